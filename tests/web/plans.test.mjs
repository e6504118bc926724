// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The steps of a plan as a tree, and nets inside operators: what they hold, what they capture of the blobs around and in
// which version. Both are the command's answers.

import { test } from 'node:test';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { assert, dropAndShow, models, openPage, selection, shotBoth, weft, withBrowser } from './support.mjs';

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
