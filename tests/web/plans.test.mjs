// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The steps of a plan as a tree, and nets inside operators: what they hold, what they capture of the blobs around and in
// which version. Both are the command's answers.

import { test } from 'node:test';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { assert, dropAndShow, models, openPage, opPoint, press, selection, settle, shot, shotBoth, weft, whenSelected, withBrowser } from './support.mjs';

let server, page, folder;
withBrowser((made) => ({ server, page, folder } = made));
const json = (...words) => JSON.parse(execFileSync(weft, [...words, '--json'], { cwd: folder }).toString());

const plan = `name: "digits"
network { name: "init" op { type: "ConstantFill" output: "w" } op { type: "ConstantFill" output: "stop" } }
network { name: "read" op { type: "CreateDB" output: "reader" } }
network { name: "train" op { type: "Relu" input: "w" output: "y" } op { type: "Relu" input: "y" output: "z" } op { type: "Relu" input: "z" output: "w" } }
network { name: "report" op { type: "Print" input: "z" } }
network { name: "idle" op { type: "Print" input: "z" } }
execution_step { name: "set up" network: "init" only_once: true }
execution_step { name: "epoch" num_iter: 12 concurrent_substeps: true should_stop_blob: "stop"
  substep { name: "read on" network: "read" num_iter: 100000 num_concurrent_instances: 4 create_workspace: true }
  substep { name: "learn" network: "train" network: "missing" num_iter: 1000 report_net: "report" report_interval: 30 }
  substep { name: "now and then" network: "report" run_every_ms: 500 }
}`;

test('a plan is a tree of steps; a click shows the net', async () => {
  writeFileSync(join(folder, 'plan.pbtxt'), plan);
  await openPage(page, server.url);
  await dropAndShow(page, [join(folder, 'plan.pbtxt')]);
  await page.click('.rail [data-tool=plans]');
  await page.waitForSelector('.plans li');
  const said = json('print', 'plan.pbtxt', '--steps').plans[0];
  const names = (steps) => steps.flatMap((step) => [step.name, ...names(step.steps)]);
  assert.deepEqual(await page.locator('.plans .step > b').allTextContents(), names(said.steps));
  const steps = await page.locator('.plans .step').allTextContents();
  assert.deepEqual(steps, ['set up only once', 'epoch 12 times, until stop, its steps side by side', 'read on 100,000 times, 4 instances, in a workspace of its own',
    'learn 1,000 times, reports with report every 30 s', 'now and then every 500 ms']);
  assert.match(await page.textContent('.plans .missing'), /missing/);
  assert.match(await page.textContent('.plans .hint'), /No step runs idle/);
  await page.click('.plans .nets >> text=train');
  await page.waitForFunction(() => window.weft.app.state.view.net.name === 'train');
  assert.match(await page.textContent('.plans [aria-current]'), /train/);
  await shotBoth(page, 'plans');
  // A net that is none of a plan: said, with a way to the plan.
  await dropAndShow(page, [join(models, 'dlrm_26.pb')]);
  await page.click('.plans >> text=Show plan.pbtxt');
  await page.waitForSelector('.plans li');
});

const loop = `name: "search" external_input: "x" external_input: "n"
op { type: "Copy" input: "x" output: "best" }
op { type: "Relu" input: "best" output: "best" }
op { type: "GT" input: "n" input: "x" output: "go" }
op { type: "While" input: "go" output: "best" output: "go"
  arg { name: "loop_net" n { name: "body" external_input: "best"
    op { type: "Sub" input: "best" input: "x" output: "step" }
    op { type: "If" input: "go" arg { name: "then_net" n { name: "then" op { type: "Add" input: "best" input: "step" output: "best" } } } }
    op { type: "LT" input: "best" input: "n" output: "go" } } }
  arg { name: "cond_net" n { name: "cond" op { type: "Not" input: "go" output: "go" } } } }
op { type: "Copy" input: "best" output: "y" }`;

test('nets inside operators show their operators and what they capture', async () => {
  writeFileSync(join(folder, 'loop.pbtxt'), loop);
  await openPage(page, server.url);
  await dropAndShow(page, [join(folder, 'loop.pbtxt')]);
  await page.evaluate(() => window.weft.app.selectOp(3));
  const said = json('ssa', 'loop.pbtxt', '--nested').nested;
  const body = said.find((net) => net.path === '3.loop_net').captured;
  assert.deepEqual(body.map(({ outer, version, after, reads, writes }) => [outer, version, after, reads, writes]),
    [['best', 2, 3, true, true], ['x', 0, null, true, false], ['go', 1, 2, true, true], ['n', 0, null, true, false]]);
  await page.waitForSelector('.nested[data-path="3.loop_net"] .captured li');
  await page.waitForSelector('.nested[data-path="3.loop_net"] .inside .op');
  assert.deepEqual(await page.locator('.nested[data-path="3.loop_net"] .captured .row').allTextContents(), ['best@2reads, writes', 'x@0reads', 'go@1reads, writes', 'n@0reads']);
  assert.deepEqual(await page.locator('.nested[data-path="3.loop_net"] .inside .op').evaluateAll((all) => all.map((e) => e.firstChild.textContent)), ['Sub', 'If', 'LT']);
  await shotBoth(page, 'nested');
  await page.click('.nested[data-path="3.loop_net"] .captured >> text=best@2');
  await page.waitForFunction(() => window.weft.app.state.selection?.what === 'blob');
  const { blob, version } = await selection(page);
  assert.deepEqual([blob, version], ['best', 2]);
  // Into the body, and the net inside it.
  await page.evaluate(() => window.weft.app.selectOp(3));
  await page.click('.nested[data-path="3.loop_net"] .inside >> text=If');
  await page.waitForFunction(() => window.weft.app.state.view.net.name === 'body' && window.weft.app.state.selection?.op === 1);
  await page.waitForSelector('.nested[data-path="3.loop_net/1.then_net"] .captured li');
  assert.deepEqual(await page.locator('.nested .captured .row').allTextContents(), ['best@0reads, writes', 'step@1reads']);
  await page.click('.nested .label >> text=enter');
  await page.waitForFunction(() => window.weft.app.state.view.net.name === 'then');
  assert.ok((await page.textContent('.crumbs')).includes('then_net'));
});

test('a Do binds names of its own, a RecurrentNetwork links its steps', async () => {
  execFileSync(weft, ['example', 'lstm', '-o', join(folder, 'lstm.pb')]);
  const nets = json('ssa', 'lstm.pb', '--nested').nested;
  assert.ok(nets.length > 0);
  await openPage(page, server.url);
  await dropAndShow(page, [join(folder, 'lstm.pb')]);
  for (const net of nets.filter((n) => !n.path.includes('/')).slice(0, 3)) {
    await page.evaluate((op) => window.weft.app.selectOp(op), net.op);
    await page.waitForSelector(`.nested[data-path="${net.path}"] .captured li`);
    assert.equal(await page.locator(`.nested[data-path="${net.path}"] .captured li`).count(), Math.max(Math.min(net.captured.length, 15), 1));
  }
  await shotBoth(page, 'nested-lstm');
});

test('nets inside operators open in the operator’s box, with what they take from around as ports', async () => {
  writeFileSync(join(folder, 'loop.pbtxt'), loop);
  await openPage(page, server.url);
  await dropAndShow(page, [join(folder, 'loop.pbtxt')]);
  const closed = await page.evaluate(() => window.weft.render.counts());
  const double = async (op) => {
    const { x, y } = await opPoint(page, op);
    await page.mouse.dblclick(x, y);
  };
  // So many nets are drawn, and the operator around the new ones is selected again: nothing moves from then on.
  const whenOpen = (nets) => page.waitForFunction((n) => window.weft.app.state.view.inside.length === n && window.weft.app.state.selection, nets);
  await double(3);
  await whenOpen(3); // the net, loop_net, cond_net
  const numbers = await page.evaluate(() => window.weft.app.state.view.inside.map(({ around, op, firstOp, numOps }) => [around, op, firstOp, numOps]));
  assert.deepEqual(numbers, [[-1, -1, 0, 5], [0, 3, 5, 3], [0, 3, 8, 1]]);
  const opened = await page.evaluate(() => window.weft.render.counts());
  // Sub, If, LT and Not; best, x, go, n in and best, go out of the body; go in and out of the condition.
  assert.equal(opened.nodes, closed.nodes + 4 + 6 + 2);
  // The net in it opens too; what stands around stays.
  await settle(page);
  await double(6);
  await whenOpen(4);
  await settle(page);
  assert.equal(await page.locator('.notice').count(), 0);
  await shotBoth(page, 'in-place');
  const ports = async () => (await page.locator('.details section:not(.nested) .ports .row').allTextContents()).map((text) => /^\w+@\d/.exec(text)[0]);
  // A click tells of an operator inside; its blobs and neighbours are those of its net.
  const add = await page.evaluate(() => window.weft.app.state.view.inside.find((net) => net.around === 1).firstOp);
  const at = await opPoint(page, add);
  await page.mouse.click(at.x, at.y);
  await whenSelected(page, add);
  assert.match(await page.textContent('.details h2'), /^Add$/);
  assert.match(await page.textContent('.details'), /operator 0.*in then_net of If 1/s);
  assert.deepEqual(await ports(), ['best@0', 'step@0', 'best@1']);
  await page.click('.details .ports >> text=step');
  await page.waitForFunction(() => window.weft.app.state.selection?.what === 'blob');
  assert.deepEqual(await selection(page).then(({ blob, version }) => [blob, version]), ['step', 1]);
  await page.click('.details .versions >> text=Sub');
  await whenSelected(page, 5);
  assert.match(await page.textContent('.details'), /in loop_net of While 3/);
  await press(page, 'ArrowUp'); // "best" comes from outside: nowhere to go but nothing breaks
  // A port is the blob around, in its version: the edges inside are that value's.
  await page.evaluate(() => window.weft.app.selectBlobNamed('best', 2));
  await page.waitForFunction(() => window.weft.app.state.selection?.what === 'blob');
  const value = (await selection(page)).value;
  await page.evaluate(() => window.weft.app.selectOp(5));
  await page.waitForFunction(() => window.weft.app.state.selection?.op === 5 && window.weft.app.state.selection.what === 'op');
  assert.equal(await page.evaluate(() => window.weft.app.state.selection.details.inputs[0].value), value);
  assert.deepEqual(await ports(), ['best@0', 'x@0', 'step@1']);
  // The picture says so, too.
  const svg = await page.evaluate(async () => {
    const { app } = window.weft;
    const words = await app.engine.scene(app.state.view.net.id, app.state.view.options, () => {}).result;
    return [...new TextDecoder().decode(new Uint8Array(words.buffer)).matchAll(/best@2|step@1|loop_net|then_net/g)].map(String);
  });
  assert.deepEqual(new Set(svg), new Set(['best@2', 'step@1', 'loop_net', 'then_net']));
  // What is found inside is marked where it stands, and the list goes there; a box of several needs their net alone.
  await page.evaluate(() => window.weft.app.find('type:Sub'));
  await page.waitForFunction(() => [...window.weft.app.inPlace.matches()].join() === '5');
  await page.click('[data-tab=found]');
  await page.click('.found .line:has-text("loop_net")');
  await page.waitForFunction(() => window.weft.app.state.selection?.op === 5 && window.weft.app.state.view.inside.length === 4);
  await shotBoth(page, 'in-place-found');
  await page.focus('#graph');
  await press(page, 'Control+g');
  await page.waitForSelector('.notice:has-text("one by one")');
  await press(page, 'Escape');
  await page.evaluate(() => window.weft.app.clearFound());
  // The address opens it again.
  const fragment = await page.evaluate(() => window.weft.app.link.fragment());
  assert.match(fragment, /&inside=3&/);
  // Closed again by its key, it is as it was.
  await page.evaluate(() => window.weft.app.selectOp(3));
  await whenSelected(page, 3);
  await press(page, 'x');
  await page.waitForFunction(() => window.weft.app.state.view.inside.length === 0);
  assert.deepEqual(await page.evaluate(() => window.weft.render.counts()), closed);
  await page.waitForFunction(() => location.hash.length > 1 && !location.hash.includes('inside'));
  await page.evaluate((f) => (location.hash = f), fragment);
  await page.waitForFunction(() => window.weft.app.state.view.inside.length === 3);
});

test('a recurrence opens in place, across too', async () => {
  await openPage(page, server.url);
  await dropAndShow(page, [join(folder, 'lstm.pb')]);
  const op = json('ssa', 'lstm.pb', '--nested').nested[0].op;
  await page.evaluate((o) => window.weft.app.inPlace.toggle(o), op);
  await page.waitForFunction(() => window.weft.app.state.view.inside.length === 3);
  await shotBoth(page, 'in-place-lstm');
  await page.evaluate(() => window.weft.app.change({ horizontal: true }));
  await page.waitForFunction(() => window.weft.render.counts().flags & 1);
  assert.equal(await page.evaluate(() => window.weft.app.state.view.inside.length), 3);
  await shot(page, 'in-place-across');
});
