// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Colours for the boxes: by cost, by JSON and CSV keyed by operator or blob, by a trace; the tip says the number.

import { test } from 'node:test';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { assert, dropAndShow, models, openPage, opPoint, root, shotBoth, weft, withBrowser } from './support.mjs';

let server, page;
withBrowser(async (made) => {
  ({ server, page } = made);
  await openPage(page, server.url);
  await dropAndShow(page, files);
  await page.evaluate(() => window.weft.theme.set('light'));
});

const files = ['alexnet_train.pb', 'alexnet_train_init.pb'].map((name) => join(models, name));
const given = ['--input', 'data=8,3,224,224', '--input', 'label=8:int32'];

const overlay = () => page.evaluate(() => {
  const { overlay: o } = window.weft.app.tint;
  return o && { title: o.title, words: o.words, numbers: Object.fromEntries([...o.numbers].map((n, i) => [i, n]).filter(([, n]) => !Number.isNaN(n))) };
});
const paste = async (text) => {
  await page.fill('.overlay textarea', '');
  await page.fill('.overlay textarea', text);
};
const dropOnTool = (name, text) => page.evaluate(([n, t]) => {
  const transfer = new DataTransfer();
  transfer.items.add(new File([t], n));
  document.querySelector('.overlay .dropfile').dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: transfer }));
}, [name, text]);
const titled = (title) => page.waitForFunction((t) => window.weft.app.tint.overlay?.title === t, title);
/** The colour of a box near its lower right corner, where no text is. */
const paint = async (op) => {
  await page.evaluate((id) => window.weft.app.selectOp(id, { reveal: true }).then(() => window.weft.app.select(null)), op);
  await page.waitForFunction(() => !window.weft.view.flight);
  return page.evaluate(async (id) => {
    const { view, render } = window.weft;
    await new Promise((done) => view.onFrame(done));
    const rect = render.opRect(id), at = view.toScreen(rect.x + rect.w - 8, rect.y + rect.h - 5);
    const copy = document.createElement('canvas');
    [copy.width, copy.height] = [1, 1];
    const context = copy.getContext('2d');
    view.draw();
    context.drawImage(view.canvas, at.x, at.y, 1, 1, 0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
  }, op);
};

test('by cost: the command’s numbers, the dearest the strongest, the tip tells', async () => {
  // Without shapes nothing is known, and they can be given.
  await page.click('.rail [data-tool=overlay]');
  await page.click('.overlay .choices >> text="Operations"');
  await page.waitForSelector('.overlay .choices .hint:has-text("No operator’s cost is known")');
  await shotBoth(page, 'overlay-unknown');
  await page.click('.overlay .choices >> text="Give shapes"');
  await page.fill('.shapes [aria-label="Shape of data"]', '8,3,224,224');
  await page.fill('.shapes [aria-label="Shape of label"]', '8');
  await page.selectOption('.shapes [aria-label="Type of label"]', 'int32');
  await page.waitForFunction(() => window.weft.app.measures.told()?.whole);
  await page.click('.rail [data-tool=overlay]');
  const told = JSON.parse(execFileSync(weft, ['shapes', files[0], '--init', files[1], ...given, '--json']));
  for (const [label, key] of [['Operations', 'flops'], ['Bytes read', 'read'], ['Parameters', 'parameters'], ['Bytes written', 'written']]) {
    await page.click(`.overlay .choices >> text="${label}"`);
    await titled(label);
    assert.deepEqual((await overlay()).numbers, Object.fromEntries(told.operators.filter((op) => op[key] > 0).map((op) => [op.op, op[key]])));
  }
  await page.click('.overlay .choices >> text="Operations"');
  await titled('Operations');
  const forward = told.operators.filter((op) => op.type === 'Conv' || op.type === 'Relu').sort((a, b) => b.flops - a.flops);
  const [strong, weak] = [await paint(forward[0].op), await paint(forward.at(-1).op)];
  assert.ok(weak[1] - strong[1] > 40, `${strong} ${weak}`);
  const at = await opPoint(page, forward.at(-1).op);
  await page.mouse.move(at.x, at.y);
  await page.waitForFunction(() => /Operations [\d.]+ [kMG]? flop/.test(document.querySelector('.tip:not(.hidden)')?.textContent ?? ''));
  await shotBoth(page, 'overlay-flops');
  await page.click('.tintlegend [aria-label="Remove the colours"]');
  assert.equal(await overlay(), null);
});

test('JSON and CSV, by operator, by blob and by version; keys that name nothing are told', async () => {
  await paste('{"0": 1.5, "2": 3, "conv1": 9, "nothing": 1}');
  await titled('Pasted');
  const first = await page.evaluate(async () => {
    const { app } = window.weft, net = app.state.view.net.id;
    const blob = await app.engine.ask('describeBlob', net, await app.engine.ask('findBlob', net, 'conv1'));
    return blob.versions.filter((v) => v.writer >= 0).map((v) => v.writer);
  });
  const expected = { 0: 1.5, 2: 3 };
  for (const op of first) expected[op] = (expected[op] ?? 0) + 9;
  assert.deepEqual((await overlay()).numbers, expected);
  assert.match(await page.textContent('.overlay'), /1 key named nothing here: nothing/);
  await dropOnTool('mood.csv', 'operator,mood\n0,calm\n1,wild\n3,"calm"\n4,#ff8800\n');
  await titled('mood');
  assert.deepEqual(await overlay(), { title: 'mood', words: ['calm', 'wild', '#ff8800'], numbers: { 0: 0, 1: 1, 3: 0, 4: 2 } });
  const [r, g, b] = await paint(4);
  assert.ok(r > 230 && g > 110 && g < 175 && b < 80, `${r} ${g} ${b}`);
  assert.equal(await page.evaluate(() => window.weft.app.state.documents.length), 2); // dropped on the tool, it is no net
  await paste('{"0": 1');
  await page.waitForSelector('.overlay .failed');
});

test('a trace lands as time per operator: complete events, pairs of begin and end, by args.op and by blob', async () => {
  const events = [
    { ph: 'X', name: 'Conv', ts: 0, dur: 1500, pid: 1, tid: 1, args: { op: 0 } },
    { ph: 'X', name: 'Conv', ts: 5000, dur: 500, pid: 1, tid: 1, args: { op: 0 } },
    { ph: 'B', name: 'Relu', ts: 2000, pid: 1, tid: 2, args: { op: 1 } },
    { ph: 'E', name: 'Relu', ts: 2250, pid: 1, tid: 2, args: { op: 1 } },
    { ph: 'X', name: 'pool1', ts: 3000, dur: 40, pid: 1, tid: 1 },
    { ph: 'M', name: 'process_name', args: { name: 'weft' } },
  ];
  await dropOnTool('trace.json', JSON.stringify({ traceEvents: events }));
  await titled('Time');
  const { numbers } = await overlay();
  assert.deepEqual(Object.values(numbers).map((n) => Math.round(n * 1e6)), [2000, 250, 40]);
  assert.equal(await page.evaluate(() => window.weft.app.tint.text(0)), 'Time 2.00 ms');
  await shotBoth(page, 'overlay-trace');
});

test('what stands in the box of an operator has its colours, too: by cost, by path, by the timeline', async () => {
  const file = join(root, 'web/examples/loop.pbtxt');
  await openPage(page, server.url);
  await dropAndShow(page, [file]);
  await page.evaluate(() => window.weft.theme.set('light'));
  await page.click('.rail [data-tool=shapes]');
  const shapes = { x: '2,3', w: '3,3', b: '3', limit: '1' };
  for (const [name, shape] of Object.entries(shapes)) await page.fill(`.shapes [aria-label="Shape of ${name}"]`, shape);
  await page.selectOption('.shapes [aria-label="Type of limit"]', 'int32');
  const words = Object.entries(shapes).flatMap(([name, shape]) => ['--input', `${name}=${shape}${name === 'limit' ? ':int32' : ''}`]);
  await page.waitForFunction((n) => window.weft.app.measures.asked().filter((word) => word === '--input').length === n, 4);
  const { nested } = JSON.parse(execFileSync(weft, ['shapes', file, ...words, '--json']));
  const around = Number(nested[0].net.split('.')[0]), dear = nested[0].operators.reduce((a, b) => ((b.flops ?? 0) > (a.flops ?? 0) ? b : a));
  await page.evaluate((op) => window.weft.app.inPlace.toggle(op), around);
  const first = await page.evaluate(() => window.weft.app.state.view.inside[1].firstOp);
  const plain = await paint(first + dear.op);
  await page.click('.rail [data-tool=overlay]');
  await page.click('.overlay .choices >> text="Operations"');
  await titled('Operations');
  const inside = () => page.evaluate(() => Object.fromEntries([...window.weft.app.tint.overlay.inside].map(([path, numbers]) => [path, [...numbers].map((n) => (Number.isNaN(n) ? 0 : n))])));
  assert.deepEqual(await inside(), Object.fromEntries(nested.map(({ net, operators }) => [net, operators.map((op) => op.flops ?? 0)])));
  const tinted = await paint(first + dear.op);
  assert.ok(plain[2] - tinted[2] > 15 || plain[1] - tinted[1] > 15, `${plain} ${tinted}`);
  const at = await opPoint(page, first + dear.op);
  await page.mouse.move(at.x, at.y);
  await page.waitForFunction((n) => document.querySelector('.tip:not(.hidden)')?.textContent.includes(`Operations ${n} flop`), dear.flops);
  await shotBoth(page, 'overlay-inside');
  // Its cost and shapes are in its details.
  await page.evaluate((op) => window.weft.app.selectOp(op), first + dear.op);
  await page.waitForFunction((n) => document.querySelector('.details .cost')?.textContent.startsWith(`${n} flop`), dear.flops);
  assert.match(await page.textContent('.details .ports .shape'), /^[\d×]+/);
  // By path and number.
  await paste(JSON.stringify({ [`${nested[0].net}/${dear.op}`]: '#ff8800' }));
  await titled('Pasted');
  const [r, g, b] = await paint(first + dear.op);
  assert.ok(r > 230 && g > 110 && g < 185 && b < 90, `${r} ${g} ${b}`);
  // A moment before the operator around veils what is in it, and one at it does not.
  const veiled = (op) => page.evaluate((moment) => {
    const { app, render } = window.weft, tint = render.tint.bind(render);
    let words = [];
    render.tint = (all) => tint((words = all));
    app.tint.moveTo(moment);
    delete render.tint;
    return [...words].flatMap((word, i) => (word >>> 31 ? [i] : []));
  }, op);
  const all = await page.evaluate(() => window.weft.app.state.view.inside.at(-1)).then(({ firstOp, numOps }) => firstOp + numOps);
  const from = (op) => Array.from({ length: all - op }, (_, i) => op + i);
  assert.deepEqual(await veiled(around - 1), from(around));
  assert.deepEqual(await veiled(around), from(around + 1).filter((op) => op < first));
  await page.evaluate(() => window.weft.app.tint.moveTo(null));
});
