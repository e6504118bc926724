// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Two nets compared in the page: the differences are those of `weft diff --json`, a click jumps to them, either net shows;
// a net's stored backward pass against a fresh plan.

import { test } from 'node:test';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { assert, dropAndShow, models, openPage, root, shotBoth, weft, withBrowser } from './support.mjs';

let server, page, folder;
withBrowser((made) => ({ server, page, folder } = made));

const compared = () => page.waitForFunction(() => document.querySelector('.comparing .verdict') !== null && document.querySelector('.comparing .progress').childElementCount === 0, null, { timeout: 60_000 });
const shown = (net, op) => page.waitForFunction(([id, at]) => window.weft.app.state.view?.net.document === id && window.weft.app.state.selection?.op === at, [net, op]);
const documentOf = (name) => page.evaluate((n) => window.weft.app.state.documents.find((d) => d.name === n).id, name);

test('two open nets: the differences of the command, a click jumps, both nets show', async () => {
  const a = join(root, 'web/examples/lenet_train.pbtxt'), b = join(folder, 'other.pbtxt');
  // Another kernel size, and no softmax's arguments matter: one operator less at the end.
  const text = readFileSync(a, 'utf8');
  const ops = text.match(/^op \{[^]*?^\}$/gm);
  const changed = text.replace('name: "kernel"\n    i: 5', 'name: "kernel"\n    i: 3').replace(`${ops.at(-1)}\n`, '');
  assert.notEqual(changed, text);
  writeFileSync(b, changed);
  const expected = JSON.parse(spawnSync(weft, ['diff', a, b, '--json']).stdout);
  assert.ok(expected.changed.length > 0 && expected.only_a.length > 0);
  await openPage(page, server.url);
  await dropAndShow(page, [a]);
  await dropAndShow(page, [b]);
  await page.click('.rail [data-tool=compare]');
  await page.selectOption('.comparing [aria-label="First net"]', { label: 'lenet_train (lenet_train.pbtxt)' });
  await page.selectOption('.comparing [aria-label="Second net"]', { label: 'lenet_train (other.pbtxt)' });
  const same = expected.match.filter((op) => op >= 0).length - expected.changed.length;
  await page.waitForFunction((t) => document.querySelector('.comparing .verdict')?.textContent === t,
    `${same} the same, ${expected.changed.length} changed, ${expected.only_a.length} only in A, ${expected.only_b.length} only in B`, { timeout: 60_000 });
  const what = expected.changed.flatMap((c) => c.what);
  await page.waitForSelector('.comparing .line.more .name');
  assert.deepEqual(await page.locator('.comparing .line.more .name').allTextContents(), what);
  assert.match(what.join(), /kernel 5 -> 3/);
  const [inA, inB] = [await documentOf('lenet_train.pbtxt'), await documentOf('other.pbtxt')];
  await page.click('.comparing .line.only_a');
  await shown(inA, expected.only_a[0]);
  await page.click('.comparing .line.changed');
  await shown(inA, expected.changed[0].a);
  await page.click('.comparing .switch button >> nth=1');
  await shown(inB, expected.changed[0].b);
  await shotBoth(page, 'compare');
  await page.click('.comparing .switch button >> nth=0');
  await shown(inA, expected.changed[0].a);
});

test('a stored backward pass against a fresh plan', async () => {
  const file = join(models, 'resnet50_train_2gpu.pb'), stale = join(folder, 'stale.pbtxt');
  await openPage(page, server.url);
  await dropAndShow(page, [file]);
  await page.click('.rail [data-tool=compare]');
  await compared();
  const again = join(folder, 'again.pb');
  execFileSync(weft, ['grad', file, '--replan', '-o', again]);
  const { match, same } = JSON.parse(spawnSync(weft, ['diff', file, again, '--json'], { maxBuffer: 1 << 28 }).stdout);
  assert.ok(same);
  assert.equal(await page.textContent('.comparing .verdict'), `The same: ${new Intl.NumberFormat('en').format(match.length)} operators in both`);

  // One whose forward part was changed after the pass was planned.
  writeFileSync(stale, readFileSync(join(root, 'web/examples/lenet_train.pbtxt'), 'utf8').replace('name: "kernel"\n    i: 5', 'name: "kernel"\n    i: 3'));
  execFileSync(weft, ['grad', stale, '--replan', '-o', again]);
  const expected = JSON.parse(spawnSync(weft, ['diff', stale, again, '--json']).stdout);
  assert.equal(expected.changed.length, 1);
  await dropAndShow(page, [stale]);
  await page.selectOption('.comparing [aria-label="First net"]', { label: 'lenet_train (stale.pbtxt)' });
  await page.waitForFunction((what) => JSON.stringify([...document.querySelectorAll('.comparing .line.more .name')].map((e) => e.textContent)) === what, JSON.stringify(expected.changed[0].what), { timeout: 60_000 });
  await shotBoth(page, 'compare-fresh');
});
