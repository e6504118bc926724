// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Data-parallel nets by device: counts, differences and bytes are the command's; nets made for many devices are the files
// that the command writes.

import { test } from 'node:test';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { assert, dropAndShow, models, openPage, selection, shotBoth, weft, whenSelected, withBrowser } from './support.mjs';

let server, page, folder;
withBrowser((made) => ({ server, page, folder } = made));
const run = (...words) => execFileSync(weft, words, { cwd: folder, maxBuffer: 1 << 28 }).toString();
const number = (text) => Number(text.replaceAll(',', ''));

test('devices, and what moves between them, as the command tells', async () => {
  const [net, init] = ['resnet50_train_2gpu_4shards_gloo.pb', 'resnet50_train_2gpu_4shards_gloo_init.pb'].map((name) => join(models, name));
  const said = JSON.parse(run('devices', net, '--init', init, '--json'));
  assert.ok(said.moved.network_bytes > 0 && said.shards === 4);
  await openPage(page, server.url);
  await dropAndShow(page, [net, init]);
  await page.click('.rail [data-tool=parallel]');
  await page.waitForSelector('.parallel table.devices tbody tr');
  const rows = await page.locator('.parallel section:first-of-type table.devices tbody tr').evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
  assert.deepEqual(rows.map((row) => [row[0], ...row.slice(1, 5).map(number), row[5]]),
    said.devices.map((d) => [d.name, d.operators, d.forward, d.backward, d.update, d.same_as === d.name ? '' : d.same_as]));
  const shown = await page.locator('.moving .moved').evaluateAll((all) => all.map((row) => ({ op: Number(row.children[0].textContent), type: row.children[1].textContent, blob: row.children[2].textContent })));
  assert.ok(shown.length > 5);
  assert.deepEqual(shown, said.moving.slice(0, shown.length).map(({ op, type, blob }) => ({ op, type, blob })));
  assert.match(await page.textContent('.parallel'), /of 4 in all/);
  await shotBoth(page, 'parallel');
  await page.click('.moving .moved:nth-child(2)');
  await page.waitForFunction(() => window.weft.app.state.selection?.what === 'op');
  assert.equal((await selection(page)).op, said.moving[1].op);
  // Twice the machines: the numbers follow.
  await page.fill('.parallel [aria-label=Machines]', '8');
  await page.waitForFunction(() => document.querySelector('.parallel').textContent.includes('of 8 in all'));
  assert.match(await page.textContent('.parallel .ascommand code'), /--shards 8$/);
});

test('alike devices fold and unfold by a control in the bar, which nets of one device do not have', async () => {
  const control = page.locator('.tools [aria-label="Fold alike devices"]');
  const state = async () => ({ pressed: await control.getAttribute('aria-pressed'), boxes: await page.evaluate(() => window.weft.render.counts().nodes) });
  await openPage(page, server.url);
  assert.equal(await control.isVisible(), false);
  await dropAndShow(page, [join(models, 'resnet50_train_2gpu.pb')]);
  const folded = await state();
  assert.equal(folded.pressed, 'true');
  assert.equal(await control.getAttribute('title'), 'Fold alike devices (R)');
  await shotBoth(page, 'fold');
  await control.click();
  await page.waitForFunction((n) => window.weft.render.counts().nodes > n, folded.boxes);
  assert.equal((await state()).pressed, 'false');
  await shotBoth(page, 'fold-off');
  // By its key, the control follows.
  await page.focus('#graph');
  await page.keyboard.press('r');
  await page.waitForFunction((n) => window.weft.render.counts().nodes === n, folded.boxes);
  assert.deepEqual(await state(), folded);
  // Another net, of one device, has nothing to fold, whatever is pressed.
  await control.click();
  await page.waitForFunction((n) => window.weft.render.counts().nodes > n, folded.boxes);
  await dropAndShow(page, [join(models, 'resnet50_train.pb')]);
  await page.waitForFunction(() => window.weft.app.state.documents.length === 2);
  assert.equal(await control.isVisible(), false);
  await page.keyboard.press('r');
  await page.waitForFunction(() => window.weft.app.state.view.options.foldReplicas === false);
  assert.equal(await control.isVisible(), false);
});

test('a replica that differs is named, with the first difference', async () => {
  const text = join(folder, 'odd.pbtxt');
  run('convert', join(models, 'resnet50_train_2gpu.pb'), text);
  const said0 = JSON.parse(run('devices', text, '--json'));
  assert.deepEqual(said0.devices.map((d) => d.same_as), ['gpu_0', 'gpu_0']);
  const whole = readFileSync(text, 'utf8');
  const at = whole.indexOf('output: "gpu_1/pool1"');
  writeFileSync(text, whole.slice(0, at) + whole.slice(at).replace('type: "MaxPool"', 'type: "AveragePool"'));
  const said = JSON.parse(run('devices', text, '--json')).devices[1];
  assert.equal(said.same_as, 'gpu_1');
  assert.match(said.first_difference.here.text, /AveragePool/);
  assert.match(said.first_difference.there.text, /MaxPool/);
  await openPage(page, server.url);
  await dropAndShow(page, [text]);
  await page.click('.rail [data-tool=parallel]');
  await page.waitForSelector('.parallel .difference');
  const shown = await page.locator('.parallel .difference .ref').allTextContents();
  assert.deepEqual(shown, [said.first_difference.here, said.first_difference.there].map(({ op, text: line }) => `${op} ${line}`));
  await shotBoth(page, 'parallel-differs');
  await page.click('.parallel .difference .ref');
  await whenSelected(page, said.first_difference.here.op);
});

test('nets for two devices are made of one', async () => {
  run('example', 'lenet', '-o', 'train.pb', '--init', 'init.pb', '--forward', 'lenet.pb');
  const loss = 'loss';
  await openPage(page, server.url);
  await dropAndShow(page, [join(folder, 'lenet.pb'), join(folder, 'init.pb')]);
  await page.evaluate(() => window.weft.app.show(window.weft.app.state.nets.find((n) => window.weft.app.state.documents.find((d) => d.id === n.document).name === 'lenet.pb').id));
  await page.click('.rail [data-tool=parallel]');
  await page.waitForSelector('.parallel :text("This net is for one device")');
  await page.waitForSelector('.parallel .namechip');
  assert.deepEqual(await page.locator('.parallel .namechip').allTextContents(), [loss]);
  await page.fill('.parallel [aria-label=Devices]', 'cpu:0-1');
  await page.fill('.parallel [aria-label=Iterations]', '7');
  // What is about gradients goes with an optimizer.
  const share = page.locator('.parallel label.check', { hasText: 'gradients share memory' }).locator('input'), command = page.locator('.parallel .ascommand code').last();
  await share.check();
  assert.match(await command.textContent(), /--share-gradients/);
  await page.fill('.parallel [aria-label=Optimizer]', '');
  assert.ok(await share.isDisabled());
  assert.doesNotMatch(await command.textContent(), /--optimizer|--share-gradients/);
  await page.fill('.parallel [aria-label=Optimizer]', 'sgd:base_lr=0.1');
  await share.uncheck();
  await page.click('.parallel .go:text-is("Make the nets")');
  await page.click('.parallel .go:text-is("Open them")', { trial: true });
  const words = ['parallel', '--init', 'init.pb', '--net', 'lenet.pb', '--loss', loss, '--devices', 'cpu:0-1', '--optimizer', 'sgd:base_lr=0.1', '--iterations', '7', '-o', 'parallel'];
  const said = JSON.parse(run(...words, '--json'));
  assert.equal(await page.locator('.parallel .ascommand code').last().textContent(), `weft ${words.join(' ')}`);
  assert.equal(await page.textContent('.parallel .steps'), run('print', join('parallel', 'plan.pbtxt'), '--steps'));
  await shotBoth(page, 'parallel-made');
  await page.click('.parallel .go:text-is("Open them")');
  const files = Object.keys(said.nets).map((name) => `cpu_0-1-${name}.pbtxt`);
  await page.waitForFunction((all) => all.every((name) => window.weft.app.state.documents.some((d) => d.name === name)), [...files, 'cpu_0-1-plan.pbtxt']);
  await page.waitForFunction(() => document.querySelector('.parallel .devices tbody tr') !== null);
  // They are nowhere but here until somebody saves them.
  await page.waitForFunction((n) => window.weft.app.workshop.unsaved.size === n, files.length + 1);
  await page.click('.rail [data-tool=read]');
  await page.click('[data-tab=files]');
  assert.equal(await page.locator('.files .how:has-text("not saved")').count(), files.length + 1);
  assert.match(await page.textContent('.previewbar .what'), /^Not saved cpu_0-1-\w+\.pbtxt, made for many devices/);
  await shotBoth(page, 'parallel-unsaved');
  const shown = await page.evaluate(() => window.weft.app.workshop.unsaved.get(window.weft.app.path()[0].document).name);
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('.previewbar >> text="Save .pbtxt"')]);
  assert.equal(readFileSync(await download.path(), 'utf8'), readFileSync(join(folder, 'parallel', shown.replace('cpu_0-1-', '')), 'utf8'));
  assert.equal(await page.locator('.files .how:has-text("not saved")').count(), files.length);
  const opened = await page.evaluate(async () => Promise.all(window.weft.app.workshop.files().map(async ({ name, blob }) => [name, await blob.text()])));
  for (const [name, text] of opened.filter(([n]) => n.startsWith('cpu_0-1-'))) assert.equal(text, readFileSync(join(folder, 'parallel', name.replace('cpu_0-1-', '')), 'utf8'), name);
});

test("a step's time on more devices, and what moves, as the command predicts", async () => {
  const [net, init] = ['resnet50_train.pb', 'resnet50_train_init.pb'].map((name) => join(models, name));
  // The forward part: what stands before the gradient of the loss.
  const text = join(folder, 'whole.pbtxt'), forward = join(folder, 'forward.pbtxt');
  run('convert', net, text);
  const whole = readFileSync(text, 'utf8'), end = whole.lastIndexOf('op {', whole.indexOf('output: "loss_autogen_grad"'));
  writeFileSync(forward, whole.slice(0, end) + (whole.match(/^external_input: .*$/gm) ?? []).join('\n'));
  writeFileSync(join(folder, 'init.pb'), readFileSync(init));
  await openPage(page, server.url);
  await dropAndShow(page, [forward, join(folder, 'init.pb')]);
  await page.evaluate(() => window.weft.app.show(window.weft.app.state.nets.find((n) => window.weft.app.state.documents.find((d) => d.id === n.document).name === 'forward.pbtxt').id));
  await page.click('.rail [data-tool=shapes]');
  await page.fill('.inputs [aria-label="Shape of data"]', '32,3,224,224');
  await page.fill('.inputs [aria-label="Shape of label"]', '32');
  await page.selectOption('.inputs [aria-label="Type of label"]', 'int32');
  await page.waitForSelector('.ascommand code:has-text("label=32:int32")');
  await page.click('.rail [data-tool=parallel]');
  await page.waitForSelector('.parallel .namechip');
  await page.fill('.parallel [aria-label=Devices]', 'cuda:0-7');
  await page.check('.parallel label:has-text("NCCL") input');
  await page.check('.parallel label:has-text("dealt") input');
  await page.fill('.parallel [aria-label^=Megabytes]', '25');
  await page.fill('.parallel [aria-label=Hardware]', 'flops=1e14,memory=2e12');
  await page.click('.parallel .go:text-is("Make the nets")');
  await page.waitForSelector('.parallel .ranks tbody tr:nth-child(4)');
  const line = await page.locator('.parallel .ascommand code').last().textContent();
  const words = line.slice('weft '.length).split(' ').map((word) => word.replaceAll("'", ''));
  assert.ok(words.includes('--shard-optimizer') && line.includes('--bucket-bytes 25000000'), line);
  assert.ok(words.includes('data=32,3,224,224') || words.some((word) => word.startsWith('data=32,3,224,224')), line);
  const said = JSON.parse(run(...words, '--json'));
  const ms = (seconds) => Number((seconds * 1e3).toPrecision(3));
  const shown = (name) => page.locator(`.parallel .${name} tbody tr`).evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
  const ranks = await shown('ranks');
  assert.deepEqual(ranks.map((row) => number(row[0])), said.ranks.map((row) => row.ranks));
  for (const [k, row] of said.ranks.entries()) {
    for (const [column, key] of ['compute', 'communication', 'hidden', 'step'].entries())
      assert.ok(Math.abs(number(ranks[k][column + 1]) - row[key] * 1e3) <= Math.max(0.051, 0.001 * ms(row[key])), `${row.ranks} ${key}: ${ranks[k][column + 1]}, the command ${row[key]}`);
    assert.equal(ranks[k][5], `${(row.efficiency * 100).toFixed(1)} %`);
  }
  assert.deepEqual((await shown('bytype')).map((row) => [row[0], number(row[1])]), said.moved.by_type.map((row) => [row.type, row.ops]));
  await page.locator('.parallel .bytype').scrollIntoViewIfNeeded();
  await shotBoth(page, 'parallel-predicted');
});
