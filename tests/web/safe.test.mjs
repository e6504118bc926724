// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Nothing leaves the page: zero requests beyond its own files, a policy that forbids them, the single file from disk.

import { after, before, test } from 'node:test';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { assert, built, dropAndShow, inked, launch, models, openPage, root, serve, settle, shot } from './support.mjs';

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
  await page.waitForFunction(() => window.weft.app.state.selection?.details?.type === 'Conv');
  await settle(page);
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

const carried = [join(models, 'alexnet_train.pb'), join(models, 'alexnet_train_init.pb')];
const packInto = (target) => execFileSync(process.execPath, [join(root, 'web/tools/pack.mjs'), '--net', ...carried, target]);

/** What is inside shows: boxes in the picture, rows in the outline's tree, and never the empty page. */
async function showsCarried() {
  await page.waitForFunction(() => window.weft.app.timing.firstFrame > 0 && window.weft.app.state.view?.lines > 0);
  assert.deepEqual(await page.evaluate(() => window.weft.app.state.documents.map((d) => d.name)), carried.map((path) => basename(path)));
  assert.equal(await page.evaluate(() => window.weft.app.state.pairs.length), 1);
  assert.equal(await page.locator('.start').isVisible(), false);
  assert.ok((await inked(page)) > 1000, 'boxes are seen');
  await page.click('[data-tab=outline]');
  await page.waitForSelector('.outline [data-op]');
  assert.match(await page.textContent('.outline'), /Conv/);
  assert.deepEqual(browser.problems, []);
}

test('a file with a net inside shows it, from disk', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'weft-pack-'));
  const target = join(folder, 'net.html');
  packInto(target);
  // The empty page is not even seen for a moment.
  await page.addInitScript(() => {
    new MutationObserver(() => {
      const start = document.querySelector('.start');
      if (start && getComputedStyle(start).display !== 'none' && document.querySelector('script[data-net]')) window.sawStart = true;
    }).observe(document, { subtree: true, childList: true, attributes: true });
  });
  await openPage(page, `file://${target}`);
  await showsCarried();
  assert.equal(await page.evaluate(() => window.sawStart), undefined);
  await shot(page, 'net-inside');
  rmSync(folder, { recursive: true });
});

test('serve.mjs serves it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'weft-serve-'));
  packInto(join(folder, 'weft.html'));
  const server = spawn(process.execPath, [join(root, 'web/tools/serve.mjs'), 'weft.html'], { env: { WEFT_WEB: folder, PATH: '' }, stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const line = await new Promise((resolve) => server.stdout.once('data', (data) => resolve(String(data))));
    await openPage(page, line.split(' ')[0].trim());
    await showsCarried();
    const outside = await fetch(new URL('/../package.json', line.split(' ')[0]));
    assert.equal(outside.status, 404);
  } finally {
    server.kill();
    rmSync(folder, { recursive: true });
  }
});
