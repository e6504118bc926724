// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The backward pass planned in the page: what it says and saves is what `weft grad` says and saves, it follows the choices,
// and where there is none one sees why, repairs and saves.

import { test } from 'node:test';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { assert, dropAndShow, models, openPage, press, root, selection, shotBoth, weft, whenSelected, withBrowser } from './support.mjs';

let server, page, folder;
withBrowser((made) => ({ server, page, folder } = made));

const overwritten = join(root, 'web/examples/overwritten.pbtxt');
const native = (...words) => execFileSync(weft, ['grad', ...words], { maxBuffer: 1 << 28 });
/** The bytes that the preview's button saves. */
const saved = async (button) => {
  const [download] = await Promise.all([page.waitForEvent('download'), page.click(`.previewbar >> text="${button}"`)]);
  return readFileSync(await download.path());
};
const nativeFile = (name, ...words) => {
  native(...words, '-o', join(folder, name));
  return readFileSync(join(folder, name));
};
const tally = (text) => page.waitForFunction((t) => document.querySelector('.gradients .tally')?.textContent.startsWith(t), text, { timeout: 60_000 });
/** The sentence about a plan, from the command's JSON. */
const sentence = (plan) => {
  const number = (n, one) => `${new Intl.NumberFormat('en').format(n)} ${one}${n === 1 ? '' : 's'}`;
  return `${number(plan.origin.length, 'generated operator')}, ${number(Object.keys(plan.grads).length, 'gradient')}, ${number(plan.stashes.length, 'value')} kept`;
};
const previewed = (words) => page.waitForFunction((w) => window.weft.app.state.preview?.words.join(' ').includes(w) && window.weft.app.state.view?.net.document === window.weft.app.state.preview.document, words, { timeout: 60_000 });
const add = async (label, name) => {
  await page.fill(`.gradients [aria-label="${label}"]`, name);
  await page.press(`.gradients [aria-label="${label}"]`, 'Enter');
};

test('a plan that is discarded stays so, and a net that comes while the panel is open waits until somebody asks', async () => {
  await openPage(page, server.url);
  const op = (input, output, type) => `op { input: "${input}" output: "${output}" type: "${type}" }`;
  const net = (name) => ({ name: `${name}.pbtxt`, bytes: Buffer.from(`name: "${name}" ${op('x', 'h', 'Relu')} ${op('h', 'loss', 'AveragedLoss')}`) });
  await dropAndShow(page, [net('one')]);
  await page.click('.rail [data-tool=gradients]');
  await previewed('one.pbtxt');
  await page.click('.previewbar >> text="Discard"');
  await page.waitForSelector('.gradients .tally >> text="Show it"');
  await page.waitForFunction(() => window.weft.app.state.documents.length === 1);
  assert.equal(await page.evaluate(() => window.weft.app.state.view.net.name), 'one');
  await page.click('.gradients .tally >> text="Show it"');
  await previewed('one.pbtxt');
  // Another net: the bar, which is about the first, goes until that one shows again.
  await dropAndShow(page, [net('two')]);
  await page.waitForSelector('.gradients >> text="Plan the backward pass"');
  assert.equal(await page.evaluate(() => window.weft.app.state.view.net.name), 'two');
  assert.equal(await page.locator('.previewbar').isVisible(), false);
  await page.click('.gradients >> text="Plan the backward pass"');
  await previewed('two.pbtxt');
  await page.click('.previewbar >> text="Keep open"');
  await page.waitForSelector('.previewbar >> text="Not saved"');
  assert.equal(await page.evaluate(() => window.weft.app.state.preview), null);
});

test('a net without gradients gets them, live, and what is saved is what the command writes', async () => {
  const forward = join(folder, 'lenet.pbtxt');
  execFileSync(weft, ['extract', join(root, 'web/examples/lenet_train.pbtxt'), '--name', 'lenet', '--inputs', 'data,label', '--outputs', 'loss', '-o', forward]);
  const suggested = JSON.parse(native(forward, '--suggest', '--json')).losses.filter((l) => l.likely).map((l) => l.loss);
  assert.equal(suggested.length, 1);
  await openPage(page, server.url);
  await dropAndShow(page, [forward]);
  await page.click('.rail [data-tool=gradients]');
  const plan = JSON.parse(native(forward, '--loss', suggested[0], '--json'));
  await tally(sentence(plan));
  await previewed(`--loss ${suggested[0]}`);
  assert.equal(await page.evaluate(() => window.weft.app.state.view.mode), 2, 'in the mirror layout');
  assert.deepEqual(await saved('Save .pb'), nativeFile('a.pb', forward, '--loss', suggested[0]));
  assert.deepEqual(await saved('Save .pbtxt'), nativeFile('a.pbtxt', forward, '--loss', suggested[0]));

  // An operator and its gradient, both ways.
  const [generated, of] = plan.origin.find(([, op]) => op >= 0);
  await page.evaluate((op) => window.weft.app.selectOp(op, { reveal: true }), of);
  await page.focus('#graph');
  await press(page, 'g');
  await whenSelected(page, plan.forward + generated);
  await press(page, 'g');
  await whenSelected(page, of);
  // What is kept for that gradient.
  const kept = plan.stashes.filter((s) => s.for.includes(of));
  await page.waitForFunction((n) => document.querySelectorAll('.gradients .sumtree > li').length === n, kept.length);

  // A choice changes the plan; the camera and the selection stay.
  const camera = await page.evaluate(() => ({ ...window.weft.view.camera }));
  const param = plan.grads.conv1_w ? 'conv1_w' : Object.keys(plan.grads).find((name) => name.endsWith('conv1_w'));
  await add('Frozen parameters', param);
  const frozen = JSON.parse(native(forward, '--loss', suggested[0], '--freeze', param, '--json'));
  assert.notDeepEqual(Object.keys(frozen.grads), Object.keys(plan.grads));
  await previewed(`--freeze ${param}`);
  await tally(sentence(frozen));
  assert.deepEqual(await page.evaluate(() => ({ ...window.weft.view.camera })), camera);
  await whenSelected(page, of);
  assert.deepEqual(await saved('Save .pb'), nativeFile('b.pb', forward, '--loss', suggested[0], '--freeze', param));

  // Only what is asked for.
  await page.click('.gradients summary');
  await add('Only gradients of', 'conv2_w');
  const only = ['--loss', suggested[0], '--freeze', param, '--wrt', 'conv2_w'];
  await previewed(only.join(' '));
  await tally(sentence(JSON.parse(native(forward, ...only, '--json'))));
  assert.deepEqual(await saved('Save .pb'), nativeFile('c.pb', forward, ...only));
  await shotBoth(page, 'gradients');
  // What leaves the page is what shows.
  await page.click('.rail [data-tool=export]');
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('.export [data-format=pb]')]);
  const [preview, exported] = [await page.evaluate(() => window.weft.app.state.preview.name), await page.textContent('.export .ascommand code')];
  assert.ok(exported.startsWith(`weft convert ${preview} `), exported);
  assert.ok(download.suggestedFilename().endsWith('.pb'));
});

test('a plan that cannot be is red, is repaired, and the repaired net is saved as the command saves it', async () => {
  const error = JSON.parse(spawnSync(weft, ['grad', overwritten, '--loss', 'loss', '--json']).stdout).error;
  await openPage(page, server.url);
  await dropAndShow(page, [overwritten]);
  await page.click('.rail [data-tool=gradients]');
  await page.waitForFunction(() => window.weft.app.state.faults.length > 0 && window.weft.app.state.selection?.what === 'blob', null, { timeout: 60_000 });
  const culprits = new Set(error.conflicts.flatMap((c) => [c.reader, c.overwriter]));
  assert.deepEqual(new Set(await page.evaluate(() => window.weft.app.state.faults)), culprits);
  const { blob, version } = await selection(page);
  assert.deepEqual([blob, version], [error.conflicts[0].blob, error.conflicts[0].version]);
  const said = (await page.textContent('.gradients .fails')).replaceAll(/\s+/g, ' ');
  assert.match(said, /The gradient of Mul ?2 needs its input h@2, but Scale ?3 overwrites it/);
  assert.match(await page.textContent('.gradients .fails pre'), /Remedy: /);
  await page.waitForFunction(() => document.querySelectorAll('.reading .line.fault').length === 0); // the text is behind the tool
  await shotBoth(page, 'gradients-fails');

  await page.click('.gradients >> text="Repair"');
  await previewed('--repair');
  const plan = JSON.parse(native(overwritten, '--loss', 'loss', '--repair', '--json'));
  await tally(sentence(plan));
  assert.equal(await page.textContent('.gradients .listingdiff'), plan.listing);
  assert.equal(await page.evaluate(() => window.weft.app.state.faults.length), 0);
  assert.deepEqual(await saved('Save .pb'), nativeFile('r.pb', overwritten, '--loss', 'loss', '--repair'));
  assert.deepEqual(await saved('Save .pbtxt'), nativeFile('r.pbtxt', overwritten, '--loss', 'loss', '--repair'));

  assert.match(await page.textContent('.previewbar .what'), /^Saved Repair and backward pass of overwritten/);

  // What is added up for a blob.
  const sum = plan.sums[0];
  await page.evaluate((name) => window.weft.app.selectBlobNamed(name), sum.of);
  await page.waitForFunction((parts) => document.querySelectorAll('.gradients .sumtree ul > li').length === parts, sum.parts.length);
  const tree = (await page.textContent('.gradients .sumtree')).replaceAll(/\s+/g, '');
  for (const part of sum.parts) assert.ok(tree.includes(`${part.blob}@${part.version}${part.type}${part.op}`), tree);
  await page.click('.gradients [data-list=stashes]');
  await page.waitForFunction((n) => document.querySelectorAll('.planlist .line').length === n, plan.stashes.length);
  assert.match(await page.textContent('.planlist .line'), new RegExp(`^${plan.stashes[0].blob}@${plan.stashes[0].version}${plan.stashes[0].from} → ${plan.stashes[0].to}`));
  await shotBoth(page, 'gradients-repaired');
  // The repaired net without its backward pass, to plan and to run like any other.
  await page.click('.gradients >> text="The repaired net alone"');
  await page.waitForFunction(() => window.weft.app.state.view?.net.document === window.weft.app.state.preview?.document && !window.weft.app.state.view.net.hasGradients);
  assert.match(await page.textContent('.gradients .ascommand code'), /--repair --forward overwritten_repaired\.pb -o overwritten_grad\.pb$/);
  await shotBoth(page, 'gradients-repaired-alone');
  native(overwritten, '--loss', 'loss', '--repair', '--forward', join(folder, 'alone.pb'), '-o', join(folder, 'whole.pb'));
  assert.deepEqual(await saved('Save .pb'), readFileSync(join(folder, 'alone.pb')));
  assert.equal(spawnSync(weft, ['grad', join(folder, 'alone.pb'), '--loss', 'loss', '-o', join(folder, 'planned.pb')]).status, 0, 'its gradient is planned without repair');
  await page.click('.gradients >> text="With its backward pass"');
  await page.waitForFunction(() => window.weft.app.state.view?.net.document === window.weft.app.state.preview?.document && window.weft.app.state.view.net.hasGradients);
  assert.deepEqual(await saved('Save .pb'), readFileSync(join(folder, 'whole.pb')));
  // Kept open, it still says that it is not saved, and offers to.
  await page.click('.previewbar >> text=Discard');
  await page.waitForFunction(() => window.weft.app.state.documents.length === 1 && window.weft.app.state.view?.net.name === 'overwritten');
  await page.click('.gradients >> text="Repair"');
  await previewed('--repair');
  await page.click('.previewbar >> text="Keep open"');
  await page.waitForFunction(() => document.querySelector('.previewbar')?.textContent.startsWith('Not saved'));
  await shotBoth(page, 'gradients-kept');
  const [download] = await Promise.all([page.waitForEvent('download'), press(page, 'Control+s')]);
  assert.deepEqual(readFileSync(await download.path()), nativeFile('r.pb', overwritten, '--loss', 'loss', '--repair'));
  await page.waitForFunction(() => document.querySelector('.previewbar').classList.contains('hidden'));
  assert.equal(await page.evaluate(() => window.weft.app.state.documents.length), 2);
});

test('from a plan to its bytes: the shapes that miss are asked for, and the plan follows', async () => {
  await openPage(page, server.url);
  await dropAndShow(page, [overwritten]);
  await page.click('.rail [data-tool=gradients]');
  await page.click('.gradients >> text="Repair"');
  await page.click('.gradients >> text="How many bytes"');
  await page.click('.gradients >> text="Give shapes of the inputs"');
  const shapes = { x: '4,3', w1: '5,3', b1: '5', w2: '2,5', b2: '2', label: '4,2' };
  for (const [name, shape] of Object.entries(shapes)) await page.fill(`.shapes [aria-label="Shape of ${name}"]`, shape);
  await page.waitForFunction(() => window.weft.app.measures.asked().filter((word) => word === '--input').length === 6);
  await page.click('.rail [data-tool=gradients]');
  await page.waitForSelector('.gradients [data-kept]');
  const plan = JSON.parse(native(overwritten, '--loss', 'loss', '--repair', '--json', ...Object.entries(shapes).flatMap(([name, shape]) => ['--input', `${name}=${shape}`])));
  assert.equal(plan.kept.unsized, 0);
  assert.equal(await page.textContent('.gradients [data-kept]'), `${plan.kept.bytes} B`);
});

test('the findings say whether the gradient was asked for, and that it fails', async () => {
  await openPage(page, server.url);
  await dropAndShow(page, [overwritten]);
  await page.click('[data-tab=findings]');
  await page.click('text="Plan its gradient"');
  await page.waitForSelector('.gradients .fails');
  const error = JSON.parse(spawnSync(weft, ['grad', overwritten, '--loss', 'loss', '--json']).stdout).error;
  await page.click('.rail [data-tool=read]');
  await page.click('[data-tab=findings]');
  await page.waitForSelector('.findings li.error:has-text("no backward pass")');
  assert.ok((await page.textContent('.findings li.error p')).startsWith(error.message.split('\n')[0]));
  await shotBoth(page, 'findings-gradient');
  await page.click('.findings li.error button');
  await page.waitForFunction(() => document.querySelector('.gradients')?.offsetParent !== null);
});

test('bytes of what is kept, once shapes are known', async () => {
  const files = ['resnet50_train.pb', 'resnet50_train_init.pb'].map((name) => join(models, name));
  await openPage(page, server.url);
  await dropAndShow(page, files);
  await page.click('.rail [data-tool=shapes]');
  for (const [name, shape] of [['data', '8,3,224,224'], ['label', '8']]) await page.fill(`.shapes [aria-label="Shape of ${name}"]`, shape);
  await page.selectOption('.shapes [aria-label="Type of label"]', 'int32');
  await page.waitForFunction(() => window.weft.app.measures.asked().join().includes('label=8:int32'), null, { timeout: 60_000 });
  await page.click('.rail [data-tool=gradients]');
  await page.click('.gradients >> text="Plan it again"', { timeout: 60_000 });
  await page.waitForSelector('.gradients [data-kept]', { timeout: 60_000 });
  const plan = JSON.parse(native(files[0], '--replan', '--json', '--init', files[1], '--input', 'data=8,3,224,224', '--input', 'label=8:int32'));
  const amount = (n) => (n < 1000 ? `${n} B` : n < 999950 ? `${(n / 1e3).toFixed(1)} KB` : n < 999.95e6 ? `${(n / 1e6).toFixed(1)} MB` : `${(n / 1e9).toFixed(1)} GB`);
  assert.equal(await page.textContent('.gradients [data-kept]'), amount(plan.kept.bytes));
  await page.click('.gradients [data-list=stashes]');
  await page.waitForSelector('.planlist .line .size');
  const rows = await page.locator('.planlist .line .size').allTextContents();
  assert.deepEqual(rows, plan.stashes.slice(0, rows.length).map((s) => amount(s.bytes)));
  // All columns are in sight.
  assert.ok(await page.evaluate(() => document.querySelector('.planlist .line .size').getBoundingClientRect().right <= document.querySelector('.planlist').getBoundingClientRect().right - 8));
  await shotBoth(page, 'gradients-kept-bytes');
});

test('dense meets sparse, and repeated rows: as chosen', async () => {
  const file = join(folder, 'mixed.pbtxt');
  writeFileSync(file, `name: "mixed" external_input: "table" external_input: "ids" external_input: "x"
op { type: "Gather" input: "table" input: "ids" output: "rows" }
op { type: "ReduceBackMean" input: "rows" output: "a" }
op { type: "MatMul" input: "x" input: "table" output: "y" }
op { type: "ReduceBackMean" input: "y" output: "b" }
op { type: "AveragedLoss" input: "a" output: "loss_a" }
op { type: "AveragedLoss" input: "b" output: "loss_b" }
op { type: "Add" input: "loss_a" input: "loss_b" output: "loss" }`);
  assert.notEqual(spawnSync(weft, ['grad', file, '--loss', 'loss']).status, 0);
  await openPage(page, server.url);
  await dropAndShow(page, [file]);
  await page.click('.rail [data-tool=gradients]');
  await page.waitForSelector('.gradients .fails', { timeout: 60_000 });
  await page.click('.gradients summary >> text=More choices');
  for (const [label, option, value] of [['Dense meets sparse', '--mixed', 'dense'], ['Dense meets sparse', '--mixed', 'sparse'], ['Repeated rows', '--dedup', 'sum']]) {
    await page.selectOption(`.gradients [aria-label="${label}"]`, value);
    await previewed(`${option} ${value}`);
    const words = option === '--dedup' ? ['--mixed', 'sparse', '--dedup', value] : [option, value];
    assert.deepEqual(await saved('Save .pb'), nativeFile('mixed.pb', file, '--loss', 'loss', ...words));
  }
});

test('a pass that the net has is planned again only when asked, and is the same', async () => {
  const file = join(models, 'resnet50_train_2gpu.pb');
  await openPage(page, server.url);
  await dropAndShow(page, [file]);
  await page.click('.rail [data-tool=gradients]');
  await page.click('.gradients >> text="Plan it again"', { timeout: 60_000 });
  await previewed('--replan');
  const plan = JSON.parse(native(file, '--replan', '--json'));
  await tally(sentence(plan));
  assert.deepEqual(await saved('Save .pb'), nativeFile('again.pb', file, '--replan'));
});
