// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading: every field of an op, a blob's versions, the text beside the graph, findings, nested nets, find.

import { test } from 'node:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assert, dropAndShow, models, openPage, opPoint, press, root, selection, shot, shotBoth, whenSelected, withBrowser } from './support.mjs';

let server, page;
withBrowser((made) => ({ server, page } = made));

const text = (lines) => Buffer.from(lines);
const select = (op) => page.evaluate((id) => window.weft.app.selectOp(id, { reveal: true }), op);
const details = () => page.textContent('.details');

// What other viewers are known to show wrongly: scalar arguments as 0, in-place writes on an input as a loop, device
// options, control inputs and gradient marks not at all.
const tricky = text(`
name: "tricky" type: "dag" external_input: "x" external_input: "w" external_output: "y"
op { input: "x" output: "x" type: "Relu" name: "act" }
op { input: "x" input: "w" output: "h" type: "Conv" engine: "CUDNN"
     arg { name: "kernel" i: 3 } arg { name: "order" s: "NHWC" } arg { name: "made_up" f: 0.25 }
     device_option { device_type: 1 device_id: 1 } control_input: "x" }
op { input: "h" output: "x" type: "Scale" arg { name: "scale" f: 0.5 } }
op { input: "x" input: "h" output: "y" type: "Add" is_gradient_op: true debug_info: "here" }
op { input: "y" output: "z" type: "Reluu" }
`);

test('an op shows every field, its arguments with types and defaults, and who it deals with', async () => {
  await openPage(page, server.url);
  await dropAndShow(page, [{ name: 'tricky.pbtxt', bytes: tricky }]);
  await select(1);
  const shown = await details();
  assert.match(shown, /Conv/);
  for (const [key, value] of [['device', 'cuda:1'], ['engine', 'CUDNN'], ['kernel', '3'], ['order', 'NHWC'], ['made_up', '0.25']]) {
    const row = page.locator('.details tr', { has: page.locator('td.key', { hasText: new RegExp(`^${key}$`) }) });
    assert.match(await row.locator('td.value').textContent(), new RegExp(value.replace('.', '\\.')), key);
  }
  assert.match(shown, /made_up[^]*not declared/);
  assert.match(shown, /order[^]*default NCHW/);
  assert.match(shown, /control inputs/);
  assert.match(shown, /x@1[^]*Relu/, 'reads the version that Relu wrote');
  assert.match(shown, /h@1/);
  assert.match(shown, /Documentation/);
  await shotBoth(page, 'op-details');
  await select(2);
  assert.match(await details(), /scale[^]*0\.5/);
  await select(3);
  const add = await details();
  assert.match(add, /is_gradient_op[^]*true/);
  assert.match(add, /here/);
  assert.match(add, /x@2/);
});

test('an unknown operator says so and what may have been meant', async () => {
  await select(4);
  assert.match(await details(), /Not an operator that Weft knows[^]*mean Relu/);
  await page.waitForFunction(() => window.weft.app.state.view.findings.length > 0);
  await page.click('[data-tab=findings]');
  const finding = page.locator('.findings li', { hasText: /Reluu/ }).first();
  await finding.locator('button').click();
  await whenSelected(page, 4);
  await shotBoth(page, 'findings');
  await page.click('[data-tab=text]');
});

test('the sign on a box is explained where the pointer stands', async () => {
  await page.evaluate(() => window.weft.app.select(null));
  const { x, y } = await opPoint(page, 0);
  await page.mouse.move(x, y);
  await page.waitForSelector('.tip:not(.hidden)');
  assert.match(await page.textContent('.tip'), /^Relu 0 .*\n=  in place: writes a blob that it reads$/);
  await shotBoth(page, 'sign');
  await page.mouse.move(0, 0);
});

test('a large net shows before it is checked, and what was found marks it then', async () => {
  const ops = Array.from({ length: 25_000 }, (_, i) => `op { input: "x${i}" output: "x${i + 1}" type: "${i === 77 ? 'NoSuchOperator' : 'Relu'}" }`);
  await dropAndShow(page, [{ name: 'large.pbtxt', bytes: text(ops.join('\n')) }]);
  await page.evaluate(() => window.weft.app.selectOp(77));
  const marked = () => page.waitForFunction(() => {
    const { app, render } = window.weft;
    return app.state.view.findings.length > 0 && !(render.counts().flags & 4);
  });
  await marked();
  assert.deepEqual((await selection(page)).op, 77, 'and what was selected stays so');
  await page.evaluate(() => window.weft.app.close(window.weft.app.state.view.net.document));
  await page.waitForFunction(() => window.weft.app.state.view.net.numOps === 5);
});

test('a blob shows its versions; [ and ] step through them', async () => {
  await page.evaluate(() => window.weft.app.selectBlobNamed('x', 1));
  let s = await selection(page);
  assert.deepEqual([s.blob, s.version], ['x', 1]);
  const list = await page.locator('.versions li').allTextContents();
  assert.equal(list.length, 3);
  assert.match(list[0], /0.*from outside.*Relu/s);
  assert.match(list[1], /1.*Relu.*Conv/s);
  assert.match(list[2], /2.*Scale.*Add/s);
  await page.focus('#graph');
  await press(page, ']');
  await page.waitForFunction(() => document.querySelector('.versions .here')?.textContent.startsWith('@2'));
  await press(page, '[');
  await press(page, '[');
  await page.waitForFunction(() => document.querySelector('.versions .here')?.textContent.startsWith('@0'));
  s = await selection(page);
  assert.equal(s.version, 0);
  await shotBoth(page, 'blob-versions');
});

test('text and graph are linked both ways', async () => {
  await page.click('[data-tab=text]');
  const line = page.locator('.listing .line[data-op="3"]');
  assert.match(await line.textContent(), /Add\(x@2, h(@1)?\) -> y/);
  await line.locator('.n').click();
  await whenSelected(page, 3);
  assert.ok((await line.getAttribute('class')).includes('selected'));
  await select(1);
  await page.waitForFunction(() => document.querySelector('.line.selected')?.dataset.op === '1');
  // A blob in the text selects that version.
  await page.locator('.listing .line[data-op="3"] .blob', { hasText: /^x$/ }).click();
  await page.waitForFunction(() => window.weft.app.state.selection?.what === 'blob');
  const s = await selection(page);
  assert.deepEqual([s.blob, s.version], ['x', 2]);
});

test('nets inside operators are entered and left', async () => {
  const loop = readFileSync(join(root, 'web/examples/loop.pbtxt'));
  await dropAndShow(page, [{ name: 'loop.pbtxt', bytes: loop }]);
  await page.waitForFunction(() => window.weft.app.state.view.net.name === 'loop');
  const at = await page.evaluate(async () => {
    const { engine, state } = window.weft.app;
    const job = await engine.search(state.view.net.id, 'type:While').result;
    return job.ops[0];
  });
  await select(at);
  await shotBoth(page, 'while');
  await page.focus('#graph');
  await press(page, 'Enter');
  await page.waitForFunction(() => window.weft.app.state.view.net.parent >= 0);
  assert.match(await page.textContent('.crumbs'), /loop.*loop_net/s);
  await shot(page, 'while-body');
  await press(page, 'Backspace');
  await page.waitForFunction(() => window.weft.app.state.view.net.parent < 0);
  await whenSelected(page, at);
});

test('find paints all matches and steps through them', async () => {
  await dropAndShow(page, [join(models, 'resnet50_train.pb'), join(models, 'resnet50_train_init.pb')]);
  await page.waitForFunction(() => window.weft.app.state.view.net.numOps === 567);
  const query = async (q) => {
    await page.fill('.find input', q);
    await page.waitForFunction((text) => window.weft.app.state.found?.query === text && !window.weft.app.state.found.running, q);
    return page.evaluate(() => ({ n: window.weft.app.state.found.ops.length, error: window.weft.app.state.found.error }));
  };
  const conv = await query('type:Conv');
  assert.equal(conv.n, 53);
  assert.equal(await page.textContent('.find .tally'), '53');
  assert.ok((await query('type:Conv kernel=3')).n < conv.n);
  assert.equal((await query('type:Conv kernel=3')).n + (await query('type:Conv kernel=1')).n + (await query('type:Conv kernel=7')).n, conv.n);
  assert.ok((await query('blob:/_grad$/')).n > 100);
  assert.ok((await query('role:backward type:Conv*')).n >= 53);
  assert.match((await query('blob:/[/')).error, /./);
  assert.ok((await page.getAttribute('.find input', 'class')).includes('bad'));
  await query('type:Conv');
  await page.focus('.find input');
  await press(page, 'Enter');
  await page.waitForFunction(() => window.weft.app.state.selection?.details?.type === 'Conv');
  assert.equal(await page.textContent('.find .tally'), '1 / 53');
  await press(page, 'Shift+Enter');
  await page.waitForFunction(() => document.querySelector('.find .tally').textContent === '53 / 53');
  await page.evaluate(() => window.weft.view.fit());
  await shotBoth(page, 'found');
  await page.click('[data-tab=found]');
  await shot(page, 'found-list');
});

test('the details say what was checked of the net, and what nobody asked for yet', async () => {
  await openPage(page, server.url);
  await dropAndShow(page, [join(root, 'web/examples/overwritten.pbtxt')]);
  const rows = () => page.locator('.details .checked tr').evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
  const facts = () => page.textContent('.details .facts div:last-child');
  await page.waitForSelector('.details .checked');
  assert.deepEqual(await rows(), [['Operators, names, order', 'nothing found'], ['Backward pass', 'not asked yet →'], ['Shapes', 'not asked yet →']]);
  assert.equal(await facts(), '0findings');
  await shotBoth(page, 'checked');
  await page.click('.details .checked >> text="not asked yet →"');
  await page.waitForSelector('.gradients .fails');
  await page.waitForFunction(() => window.weft.app.state.selection?.what === 'blob');
  await page.evaluate(() => window.weft.app.select(null));
  assert.deepEqual((await rows())[1], ['Backward pass', 'there is none →']);
  assert.equal(await facts(), '1finding');
  await page.click('.details .checked >> text="not asked yet →"');
  await page.waitForFunction(() => document.querySelector('.details .checked tr:last-child td:last-child')?.textContent === 'not all known →');
});

test('the gradient of an operator is told with its own blobs; the rule is in the tooltip', async () => {
  await openPage(page, server.url);
  await dropAndShow(page, [join(models, 'resnet50_train.pb')]);
  const section = page.locator('.details section', { has: page.locator('.label', { hasText: /^Gradient$/ }) });
  const lines = async (op) => {
    await select(op);
    return section.locator('.rule').evaluateAll((all) => all.map((rule) => [...rule.children].map((part) => `${part.localName} ${part.textContent}`)));
  };
  const find = (type) => page.evaluate(async (wanted) => (await window.weft.app.engine.search(window.weft.app.state.view.net.id, `type:${wanted}`).result).ops[0], type);
  assert.deepEqual(await lines(await find('MaxPool')), [['code MaxPoolGradient(conv1_spatbn_relu, pool1, pool1_grad) -> conv1_spatbn_relu_grad']]);
  assert.equal(await section.locator('[title]').getAttribute('title'), 'MaxPoolGradient(I0, O0, GO0) -> GI0');
  assert.deepEqual(await lines(0), [
    ['p if conv1_b_grad is wanted:', 'code ConvGradient(data, conv1_w, conv1_grad) -> conv1_w_grad, conv1_b_grad, data_grad'],
    ['p if conv1_b_grad is not wanted:', 'code ConvGradient(data, conv1_w, conv1_grad) -> conv1_w_grad, data_grad with no_bias=1']]);
  await section.scrollIntoViewIfNeeded();
  await shotBoth(page, 'gradient-rule');
  assert.equal((await lines(await find('SoftmaxWithLoss'))).length, 5);
  await section.scrollIntoViewIfNeeded();
  await shotBoth(page, 'gradient-function');
  assert.deepEqual(await lines(await find('ConstantFill')), [['p no gradient: the flow stops here']]);
});
