// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Nothing leaves the page: zero requests beyond its own files, a policy that forbids them, the single file from disk.

import { after, before, test } from 'node:test';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assert, built, dropAndShow, launch, models, openPage, root, selection, serve, settle, shot } from './support.mjs';

let browser, page;
const asked = [];
before(async () => {
  browser = await launch();
  page = browser.page;
  browser.context.on('request', (request) => asked.push(request.url()));
});
after(() => browser.close());

/** Uses the page the way a reader does. */
async function use() {
  await dropAndShow(page, [join(models, 'resnet50_train_2gpu.pb'), join(models, 'resnet50_train_2gpu_init.pb')]);
  await page.evaluate(() => window.weft.app.selectOp(3, { reveal: true }));
  await page.fill('.find input', 'type:Conv');
  await page.waitForFunction(() => window.weft.app.state.found?.running === false);
  await page.keyboard.press('Enter');
  await settle(page);
  assert.equal((await selection(page)).type, 'Conv');
}

test('the hosted page asks for its own files only, and works on with the network cut', async () => {
  const server = await serve();
  asked.length = 0;
  await openPage(page, server.url);
  await browser.context.setOffline(true);
  const before = asked.length;
  await use();
  const names = [...asked].filter((url) => !url.startsWith('blob:') && !url.startsWith('data:'));
  assert.ok(names.every((url) => url.startsWith(server.url)), names.join('\n'));
  assert.deepEqual(asked.slice(before).filter((url) => !/^(data|blob):/.test(url)), []);
  await browser.context.setOffline(false);
  await server.close();
  assert.deepEqual(browser.problems, []);
});

test('the hosted page has a policy that forbids what it does not need', () => {
  const html = readFileSync(join(built, 'index.html'), 'utf8');
  const policy = /Content-Security-Policy" content="([^"]+)"/.exec(html)?.[1] ?? '';
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /script-src 'self' 'wasm-unsafe-eval'/);
  assert.doesNotMatch(policy, /unsafe-inline|'unsafe-eval'/);
});

test('weft.html works from disk under connect-src none, with no request at all', async (t) => {
  t.after(() => {
    browser.problems.length = 0;
    return browser.context.setOffline(false);
  });
  await browser.context.setOffline(true);
  asked.length = 0;
  await openPage(page, `file://${join(built, 'weft.html')}`);
  await use();
  const names = asked.filter((url) => !url.startsWith('blob:') && !url.startsWith('data:'));
  assert.deepEqual(names, [`file://${join(built, 'weft.html')}`]);
  assert.deepEqual(browser.problems, []);
  await shot(page, 'single-file');
  // The policy is in force: the page itself may not fetch, nor make code from text.
  const denied = await page.evaluate(async () => {
    const fetched = await fetch('https://example.invalid/').then(() => 'fetched', (e) => e.name);
    // Not at once: what the test itself runs is excused from the policy, what a timer runs is not.
    const made = await new Promise((done) => setTimeout(() => {
      try {
        new Function('return 1')();
        done('made');
      } catch (error) {
        done(error.name);
      }
    }, 0));
    return { fetched, made, policy: document.querySelector('meta[http-equiv]').content };
  });
  assert.equal(denied.fetched, 'TypeError');
  assert.equal(denied.made, 'EvalError');
  assert.match(denied.policy, /connect-src 'none'/);
  assert.match(denied.policy, /script-src 'sha256-/);
});

test('a file with a net inside shows it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'weft-pack-'));
  const target = join(folder, 'net.html');
  execFileSync(process.execPath, [join(root, 'web/tools/pack.mjs'), '--net', join(models, 'alexnet_train.pb'), join(models, 'alexnet_train_init.pb'), target]);
  await openPage(page, `file://${target}`);
  await page.waitForFunction(() => window.weft.app.timing.firstFrame > 0);
  assert.deepEqual(await page.evaluate(() => window.weft.app.state.documents.map((d) => d.name)), ['alexnet_train.pb', 'alexnet_train_init.pb']);
  assert.equal(await page.evaluate(() => window.weft.app.state.pairs.length), 1);
  assert.deepEqual(browser.problems, []);
  rmSync(folder, { recursive: true });
});
