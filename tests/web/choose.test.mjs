// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Several operators at once: a rectangle with Shift, one box made of them, copying as text; files whose weights stay in
// them; edges of control inputs.

import { test } from 'node:test';
import { join } from 'node:path';
import { assert, drop, dropAndShow, models, openPage, opPoint, press, selection, settle, shot, shotBoth, whenSelected, withBrowser } from './support.mjs';

let server, browser, page;
withBrowser(async (made) => {
  ({ server, browser, page } = made);
  await browser.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openPage(page, server.url);
  await dropAndShow(page, [join(models, 'resnet50_train.pb')]);
});

const chosen = () => page.evaluate(() => [...window.weft.app.selectedOps()]);
const nodes = () => page.evaluate(() => window.weft.render.counts().nodes);
/** What is in the clipboard, once it begins so. */
const clipboard = (begin) => page.evaluate(async (start) => {
  for (const end = Date.now() + 30_000; ;) {
    const text = await navigator.clipboard.readText();
    if (text.startsWith(start) || Date.now() > end) return text;
    await new Promise((go) => setTimeout(go, 20));
  }
}, begin);
/** Where a group shows as a box of its own, or null. */
const boxOf = (scope) => page.evaluate((id) => window.weft.render.scopeRect(id), scope);

test('shift and drag selects what is in the rectangle, shift and click adds and takes away', async () => {
  await page.evaluate(() => window.weft.app.selectOp(1, { reveal: true }));
  await settle(page);
  const [first, last] = [await opPoint(page, 0), await opPoint(page, 3)];
  await page.keyboard.down('Shift');
  await page.mouse.move(first.x - 110, first.y - 60);
  await page.mouse.down();
  await page.mouse.move(last.x + 110, last.y + 30, { steps: 5 });
  await page.mouse.up();
  await page.keyboard.up('Shift');
  await page.waitForFunction(() => window.weft.app.state.selection?.what === 'ops');
  assert.deepEqual(await chosen(), [0, 1, 2, 3]);
  assert.match(await page.textContent('.details'), /4 operators/);
  assert.equal(await page.locator('.line.selected').count(), 4);
  await shotBoth(page, 'several-selected');
  await page.keyboard.down('Shift');
  await page.mouse.click(last.x, last.y - 10);
  await page.waitForFunction(() => window.weft.app.selectedOps().length === 3);
  assert.deepEqual(await chosen(), [0, 1, 2]);
  await page.mouse.click(last.x, last.y - 10);
  await page.waitForFunction(() => window.weft.app.selectedOps().length === 4);
  await page.keyboard.up('Shift');
});

test('a selection collapses into one box, opens and dissolves again', async () => {
  const before = await nodes();
  await page.focus('#graph');
  await press(page, 'Control+g');
  await page.waitForFunction(() => window.weft.app.state.selection?.what === 'scope');
  const scope = (await selection(page)).scope;
  assert.ok((await nodes()) < before);
  assert.ok(await boxOf(scope));
  assert.match(await page.textContent('.details'), /Your selection.*Conv and 3 more/s);
  assert.equal(await page.evaluate(() => window.weft.render.opRect(2).own), false);
  await page.click('[data-tab=outline]');
  await page.waitForSelector(`.outline [data-scope="${scope}"]`);
  await page.click('[data-tab=text]');
  await shotBoth(page, 'grouped');
  await page.focus('#graph');
  await press(page, 'x');
  await page.waitForFunction(() => window.weft.render.opRect(2).own);
  assert.equal(await nodes(), before);
  await press(page, 'Control+Shift+g');
  await page.waitForFunction((id) => window.weft.render.scopeRect(id) === null, scope);
  assert.equal(await nodes(), before);
});

test('an operator is copied as protobuf text, several as a net', async () => {
  await page.evaluate(() => window.weft.app.selectOp(0));
  await page.focus('#graph');
  await press(page, 'Control+Shift+c');
  const one = await clipboard('input: ');
  assert.match(one, /^input: [^]*type: "Conv"/);
  assert.match(one, /arg \{\s+name: "kernel"/);
  await page.evaluate(() => window.weft.app.selectOps(Int32Array.of(0, 1, 2)));
  await press(page, 'Control+Shift+c');
  const text = await clipboard('op {');
  assert.equal(text.match(/^op \{$/gm).length, 3);
  // It is a net again.
  await drop(page, [{ name: 'copied.pbtxt', bytes: Buffer.from(text) }]);
  await page.waitForFunction(() => window.weft.app.state.view?.net.numOps === 3);
  await page.evaluate(() => window.weft.app.show(0));
});

/** A length-delimited field of protobuf. */
const field = (number, bytes) => {
  const size = [];
  for (let n = bytes.length; ; n >>>= 7) {
    if (n < 128) { size.push(n); break; }
    size.push((n & 127) | 128);
  }
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...size]), bytes]);
};

test('weights stay in the file until their operator is looked at', async () => {
  const floats = Buffer.alloc(4_000_000);
  for (let i = 0; i < 1_000_000; ++i) floats.writeFloatLE(0.25, 4 * i);
  const fill = (name) => field(2, Buffer.concat([field(2, Buffer.from(name)), field(4, Buffer.from('GivenTensorFill')), field(5, Buffer.concat([field(1, Buffer.from('values')), field(5, floats)]))]));
  const net = Buffer.concat([field(1, Buffer.from('weights')), fill('w1'), fill('w2'), fill('w3')]);
  const chooser = page.waitForEvent('filechooser');
  await press(page, 'Control+o');
  await (await chooser).setFiles({ name: 'weights.pb', mimeType: 'application/octet-stream', buffer: net });
  await page.waitForFunction(() => window.weft.app.state.view?.net.name === 'weights' && window.weft.app.state.view.lines > 0);
  await page.waitForFunction(() => document.querySelector('.listing')?.textContent.includes('MB in the file'));
  await page.evaluate(() => window.weft.app.selectOp(1));
  await page.waitForFunction(() => document.querySelector('.details').textContent.includes('0.25, 0.25, 0.25, 0.25, ... 1000000 floats'));
  assert.equal(await page.locator('.notice').count(), 0);
  await shot(page, 'weights-in-the-file');
});

test('control inputs are edges of their own', async () => {
  const text = 'op { input: "x" output: "y" type: "Relu" } op { input: "x" output: "z" type: "Sigmoid" control_input: "y" } op { input: "z" output: "s" type: "Tanh" control_input: "y" control_input: "nobody" }';
  await drop(page, [{ name: 'waits.pbtxt', bytes: Buffer.from(text) }]);
  await page.waitForFunction(() => window.weft.app.state.view?.net.name !== 'weights' && window.weft.app.state.view?.net.numOps === 3 && window.weft.app.state.view.lines > 0);
  await page.evaluate(() => window.weft.app.selectOp(2));
  await whenSelected(page, 2);
  assert.match(await page.textContent('.details'), /control inputs\s*y, nobody/);
  await shotBoth(page, 'control-edges');
});
