// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The page inside another one: it opens, selects and finds what messages ask for, tells what happens to the page around
// and to nobody else, and only about nets that it was given.

import { after, before, test } from 'node:test';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assert, launch, models, openPage, serve, settle, shots, weft } from './support.mjs';

let server, host, browser, page, folder;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'weft-embed-'));
  server = await serve();
  writeFileSync(join(folder, 'index.html'), `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><h1>A page of somebody else</h1>
    <iframe src="${server.url}" width="1100" height="700" title="net"></iframe>
    <script>const heard = []; addEventListener('message', (event) => heard.push({ origin: event.origin, ...event.data }));</script>`);
  host = await serve(folder);
  browser = await launch();
  page = browser.page;
});
after(async () => {
  assert.deepEqual(browser.problems, []);
  await browser.close();
  await server.close();
  await host.close();
  rmSync(folder, { recursive: true, force: true });
});

const heard = (about) => page.waitForFunction((what) => heard.findLast((m) => Object.entries(what).every(([k, v]) => m[k] === v)), about).then((handle) => handle.jsonValue());
const say = (message) => page.evaluate((m) => frames[0].postMessage(m, '*'), message);
const open = (name, bytes) => page.evaluate(([n, base64]) => {
  const data = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  frames[0].postMessage({ weft: 'open', id: n, name: n, bytes: data.buffer }, '*');
}, [name, bytes.toString('base64')]);
const forget = () => page.evaluate(() => void (heard.length = 0));

test('open, select, find, and what comes back', async () => {
  await page.goto(host.url);
  const ready = await heard({ weft: 'ready' });
  assert.equal(ready.origin, new URL(server.url).origin);
  await open('alexnet_train.pb', readFileSync(join(models, 'alexnet_train.pb')));
  const opened = await heard({ weft: 'opened', id: 'alexnet_train.pb' });
  assert.equal(opened.nets.length, 1);
  const [net] = JSON.parse(execFileSync(weft, ['print', join(models, 'alexnet_train.pb'), '--json']).toString()).nets;
  assert.deepEqual(opened.nets, [{ name: net.name, operators: net.operators }]);
  await say({ weft: 'select', id: 1, op: 2 });
  await heard({ weft: 'done', id: 1 });
  const selected = await heard({ weft: 'selected', op: 2 });
  assert.equal(selected.net, opened.nets[0].name);
  assert.equal(selected.what, 'op');
  await say({ weft: 'find', id: 2, query: 'type:ConvGradient' });
  const found = await heard({ weft: 'done', id: 2 });
  assert.equal(found.operators.length, 5);
  await say({ weft: 'select', id: 3, blob: 'conv1', version: 1 });
  await heard({ weft: 'done', id: 3 });
  assert.equal((await heard({ weft: 'selected', what: 'blob' })).blob, 'conv1');
  // What a person selects is told too.
  await forget();
  await page.frames()[1].evaluate(() => window.weft.app.selectOp(9));
  await heard({ weft: 'selected', op: 9 });
  await settle(page.frames()[1]);
  mkdirSync(shots, { recursive: true });
  await page.screenshot({ path: join(shots, 'embed.png') });
});
test('what is wrong is said, and does nothing', async () => {
  for (const [id, message, expected] of [
    [10, { weft: 'open', name: 'x.pb' }, /expected name/],
    [11, { weft: 'select', op: 1e9 }, /expected op/],
    [12, { weft: 'select', blob: 'no such blob' }, /no such blob/],
    [13, { weft: 'find', query: 'kernel>>3(' }, /./],
    [14, { weft: 'constructor' }, /there is no message constructor/],
    [15, { weft: 'open', name: 'broken.pb', bytes: '\u0001\u0002 not a net' }, /broken\.pb could not be read/],
  ]) {
    await say({ ...message, id });
    assert.match((await heard({ weft: 'error', id })).message, expected);
  }
  await say('weft');
  await say(null);
  await say({ weft: 7 });
  assert.equal(await page.frames()[1].evaluate(() => window.weft.app.state.documents.length), 1);
});

test('nets that a person brings along are not told of; nor is anybody but the page around heard', async () => {
  await forget();
  await page.frames()[1].evaluate(async () => {
    const text = 'name: "mine" op { type: "Relu" input: "secret" output: "y" }';
    await window.weft.app.open([{ name: 'mine.pbtxt', bytes: new TextEncoder().encode(text) }]);
    await window.weft.app.selectOp(0);
    window.postMessage({ weft: 'select', id: 20, op: 0 }, '*');
  });
  await say({ weft: 'find', id: 21, query: 'Relu' });
  assert.match((await heard({ weft: 'error', id: 21 })).message, /not from this page/);
  assert.equal(await page.evaluate(() => heard.length), 1);
  // On its own the page listens to nobody.
  await openPage(page, server.url);
  assert.equal(await page.evaluate(() => new Promise((done) => {
    addEventListener('message', () => setTimeout(() => done(window.weft.app.state.documents.length), 50));
    postMessage({ weft: 'open', name: 'a.pbtxt', bytes: 'name: "a"' }, '*');
  })), 0);
});
