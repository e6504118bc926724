// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensors of init nets and files of weights: the numbers are the command line's, the saved array is its file byte for
// byte; what a net reads and nothing gives is told with a remedy.

import { test } from 'node:test';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assert, drop, dropAndShow, models, openPage, shotBoth, weft, withBrowser } from './support.mjs';

let server, page, folder;
withBrowser((made) => ({ server, page, folder } = made));

const net = join(models, 'resnet50_train.pb'), init = join(models, 'resnet50_train_init.pb');
const native = (...words) => JSON.parse(execFileSync(weft, [...words, '--json'], { maxBuffer: 1 << 28 }).toString());
const idle = () => page.waitForFunction(() => [...document.querySelectorAll('.tensors .progress')].every((p) => p.childElementCount === 0) && document.querySelector('.tensorlist .line'), null, { timeout: 60_000 });
const short = (value) => String(Number(value.toPrecision(5))).replace('-', '−');

test('the init net beside the net is listed; one tensor has the command line\'s numbers', async () => {
  await openPage(page, server.url);
  await dropAndShow(page, [net, init]);
  await page.click('.rail [data-tool=tensors]');
  await idle();
  const { tensors } = native('tensors', init);
  await page.waitForFunction((n) => document.querySelector('.tensors > .hint')?.textContent.startsWith(n), tensors.length.toLocaleString('en'));
  const wanted = tensors.find((t) => t.made_by === 'MSRAFill' || t.made_by === 'XavierFill');
  await page.fill('[aria-label=Filter]', wanted.name);
  await page.locator('.tensorlist .line', { has: page.locator(`.mono:text-is("${wanted.name}")`) }).click();
  await page.locator('.tensors h3.mono', { hasText: wanted.name }).waitFor({ timeout: 60_000 });
  const told = native('tensors', init, '--tensor', wanted.name);
  const cells = await page.locator('.tensors .statistics b').allTextContents();
  const { min, mean, max, std } = told.numbers;
  if (Math.abs(mean) >= 1e-4) assert.equal(cells[1], short(mean));
  assert.deepEqual([cells[0], cells[2], cells[3]], [min, max, std].map(short));
  assert.equal(await page.locator('.tensors svg.histogram rect').count(), told.numbers.histogram.counts.length);
  assert.match(await page.locator('.tensors .values .line').first().textContent(), /^\[0(, 0)*\]/);
  await shotBoth(page, 'tensors-init');
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('.tensors button:has-text("Save .npy")')]);
  execFileSync(weft, ['tensors', init, '--tensor', wanted.name, '-o', join(folder, 'one.npy')]);
  assert.deepEqual(readFileSync(await download.path()), readFileSync(join(folder, 'one.npy')));
});

test('what the net reads and nothing gives is told, and a press shows it', async () => {
  await page.locator('.missing li').first().waitFor({ timeout: 60_000 });
  const { findings } = native('check', net, '--init', init);
  const first = findings.find((f) => f.code === 'not_fed');
  const item = page.locator('.missing li', { has: page.locator(`button:text-is("${first.blob}")`) });
  assert.match(await item.textContent(), new RegExp(first.remedy.slice(0, 10).replace(/[()]/g, '.')));
  await item.locator('button').click();
  await page.waitForFunction((blob) => window.weft.app.state.selection?.details?.name === blob, first.blob);
});

test('a file of weights is listed by name, with its values', async () => {
  // TensorProtos: a float pair with a NaN, three int64.
  const field = (number, bytes) => Buffer.concat([Buffer.from([number << 3 | 2, bytes.length]), Buffer.from(bytes)]);
  const floats = Buffer.from(new Float32Array([1.5, NaN]).buffer);
  const one = Buffer.concat([Buffer.from([8, 2, 16, 1]), field(3, floats), field(7, Buffer.from('weights/a'))]);
  const two = Buffer.concat([Buffer.from([8, 3, 16, 10, 80, 5, 80, 6, 80, 7]), field(7, Buffer.from('ids'))]);
  // Alone, on an empty page: the tool comes by itself.
  await openPage(page, server.url);
  await drop(page, [{ name: 'weights.pb', bytes: Buffer.concat([field(1, one), field(1, two)]) }]);
  await page.locator('.tensors h3.mono:text-is("weights/a")').waitFor({ timeout: 60_000 });
  assert.match(await page.textContent('.tensors .statistics'), /NaN1/);
  assert.deepEqual(await page.locator('.tensors .values .line').allTextContents(), ['[0]1.5', '[1]nan']);
  await page.click('.tensorlist .line:has-text("ids")');
  await page.locator('.tensors h3.mono:text-is("ids")').waitFor();
  assert.deepEqual(await page.locator('.tensors .values .line').allTextContents(), ['[0]5', '[1]6', '[2]7']);
  assert.equal(await page.locator('.tensors >> text="Missing blobs"').isVisible(), false); // there is no net that could miss any
  await shotBoth(page, 'tensors-weights');
});
