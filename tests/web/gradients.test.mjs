// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The backward pass planned in the page: what it says and saves is what `weft grad` says and saves, it follows the choices,
// and where there is none one sees why, repairs and saves.

import { test } from 'node:test';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assert, dropAndShow, models, openPage, press, root, selection, shotBoth, weft, withBrowser } from './support.mjs';

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
  await page.waitForFunction((op) => window.weft.app.state.selection?.op === op, plan.forward + generated);
  await press(page, 'g');
  await page.waitForFunction((op) => window.weft.app.state.selection?.op === op, of);
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
  assert.equal((await selection(page)).op, of);
  assert.deepEqual(await saved('Save .pb'), nativeFile('b.pb', forward, '--loss', suggested[0], '--freeze', param));

  // Only what is asked for.
  await page.click('.gradients summary');
  await add('Only gradients of', 'conv2_w');
  const only = ['--loss', suggested[0], '--freeze', param, '--wrt', 'conv2_w'];
  await previewed(only.join(' '));
  await tally(sentence(JSON.parse(native(forward, ...only, '--json'))));
  assert.deepEqual(await saved('Save .pb'), nativeFile('c.pb', forward, ...only));
  await shotBoth(page, 'gradients');
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
  await page.click('.previewbar >> text=Discard');
  await page.waitForFunction(() => window.weft.app.state.documents.length === 1 && window.weft.app.state.view?.net.name === 'overwritten');
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
