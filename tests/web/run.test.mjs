// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Running nets in the page: LeNet learns made digits, a planted NaN is found at the operator that made it, the slider and
// the selection follow one another, values and .npy files are the command line's, gradients are checked.

import { test } from 'node:test';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { assert, dropAndShow, openPage, root, selection, shotBoth, weft, whenSelected, withBrowser } from './support.mjs';

const examples = join(root, 'web/examples'), net = join(examples, 'lenet_train.pbtxt'), init = join(examples, 'lenet_train_init.pbtxt');
let server, page, folder;
withBrowser((made) => ({ server, page, folder } = made));

const open = async (files) => {
  await openPage(page, server.url);
  await dropAndShow(page, files);
  await page.click('.rail [data-tool=run]');
  await page.locator('.run .input').first().waitFor({ timeout: 60_000 });
  await idle();
};
const idle = () => page.waitForFunction(() => [...document.querySelectorAll('.run .progress')].every((p) => p.childElementCount === 0) && !document.querySelector('.run .go').disabled, null, { timeout: 120_000 });
const run = async () => {
  const runs = () => page.evaluate(() => document.querySelector('.run .results').dataset.runs ?? '0');
  const before = await runs();
  await page.click('.run .go');
  await page.waitForFunction((n) => (document.querySelector('.run .results').dataset.runs ?? '0') !== n, before, { timeout: 120_000 });
  await idle();
};
const native = (...words) => JSON.parse(execFileSync(weft, [...words, '--json'], { maxBuffer: 1 << 28 }).toString());
/** The command line that the tool shows. */
const shown = async (at) => (await page.locator(`${at} .ascommand code`).last().textContent()).replace(/^weft /, '').split(' ');

test('LeNet learns made digits in 50 steps; the numbers are those of the command line', async () => {
  await open([net, init]);
  const inputs = page.locator('.run .input');
  assert.equal(await inputs.count(), 2);
  assert.equal(await page.inputValue('[aria-label="Shape of data"]'), '8,1,28,28');
  await page.fill('[aria-label="Shape of data"]', '4,1,28,28');
  await page.press('[aria-label="Shape of data"]', 'Enter');
  await page.waitForFunction(() => document.querySelector('[aria-label="Shape of label"]')?.value === '4');
  await page.selectOption('[aria-label="Numbers for all other inputs"]', 'digits');
  await page.fill('[aria-label=Iterations]', '50');
  await idle();
  await run();
  const chart = page.locator('.linechart', { has: page.locator('figcaption .mono:text-is("loss")') });
  const told = await chart.locator('svg').getAttribute('aria-label');
  const words = await shown('.run');
  const { watched } = native('run', net, '--init', init, ...words.slice(4));
  assert.equal(watched.loss.length, 50);
  assert.ok(watched.loss[49] < watched.loss[0] / 2, `${watched.loss[0]} -> ${watched.loss[49]}`);
  assert.equal(told, `loss over 50 iterations, from ${Number(watched.loss[0].toPrecision(5))} to ${Number(watched.loss[49].toPrecision(5))}`);
  assert.match(await page.textContent('.run .results'), /All values were finite/);
  await shotBoth(page, 'run-lenet');
});

test('the slider walks through the operators, and follows the selection', async () => {
  const slider = page.locator('.run .steps');
  await slider.focus();
  await slider.press('Home');
  await whenSelected(page, 0);
  await slider.press('ArrowRight');
  await whenSelected(page, 1);
  assert.match(await page.textContent('.run .where'), /^MaxPool op 1 of/);
  await page.evaluate(() => window.weft.app.selectOp(7));
  await page.waitForFunction(() => document.querySelector('.run .where').textContent.startsWith('Softmax op 7'));
  assert.equal(await slider.inputValue(), '7');
  const words = await shown('.run');
  const { trace } = native('run', net, '--init', init, ...words.slice(4));
  const softmax = trace.ops[7].outputs[0];
  const cells = await page.locator('.run .output .statistics b').allTextContents();
  assert.equal(cells[2], String(Number(softmax.max.toPrecision(5))));
});

test('all values of a blob: listed, and saved as the command line saves them', async () => {
  await page.fill('[aria-label=Iterations]', '2');
  await run();
  await page.evaluate(() => window.weft.app.selectOp(7));
  await page.waitForFunction(() => document.querySelector('.run .where').textContent.startsWith('Softmax'));
  await page.click('.run .output button:has-text("All values")');
  await page.locator('.run .values .line').first().waitFor({ timeout: 60_000 });
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('.run .results button:has-text("Save .npy")')]);
  const words = (await shown('.run')).slice(4).filter((word) => word !== '--trace');
  execFileSync(weft, ['run', net, '--init', init, ...words, '--fetch', 'softmax', '--out', folder]);
  assert.deepEqual(readFileSync(await download.path()), readFileSync(join(folder, 'softmax.npy')));
  const { fetched } = native('run', net, '--init', init, ...words, '--fetch', 'softmax');
  assert.equal(await page.locator('.run .values .line').first().textContent(), `[0, 0]${fetched.softmax.values[0]}`);
});

test('gradients of chosen parameters are right', async () => {
  await page.fill('[aria-label=Parameters]', 'pred_b');
  await page.press('[aria-label=Parameters]', 'Enter');
  await page.click('.run button:text-is("Check")');
  await page.locator('.verdicts tr').nth(1).waitFor({ timeout: 120_000 });
  const rows = await page.locator('.verdicts tr').allTextContents();
  assert.equal(rows.length, 2);
  assert.match(rows[1], /^pred_b.*right$/);
});

test('a planted NaN is found at the operator that made it, marked in the graph; blobs without fill have remedies', async () => {
  // Softmax's place is taken by the logarithm of what may be below 0.
  const planted = join(folder, 'planted.pbtxt');
  writeFileSync(planted, readFileSync(net, 'utf8').replace('type: "Softmax"', 'type: "Log"'));
  await open([planted, init]);
  await page.fill('[aria-label=Iterations]', '2');
  await run();
  assert.match(await page.textContent('.firstnan'), /^First NaN: op 7 Log writes softmax@1 in iteration 1/);
  await whenSelected(page, 7);
  await page.locator('.redboxes .first').waitFor();
  await shotBoth(page, 'run-nan');
  // The frame lies around the operator's box.
  await page.evaluate(() => new Promise((done) => window.weft.view.onFrame(done)));
  await page.waitForFunction(() => {
    const { render, view } = window.weft, rect = render.opRect(7), at = view.toScreen(rect.x, rect.y), canvas = view.canvas.getBoundingClientRect();
    const frame = document.querySelector('.redboxes .first').getBoundingClientRect();
    return Math.abs(frame.left + 3 - canvas.left - at.x) < 3 && Math.abs(frame.top + 3 - canvas.top - at.y) < 3;
  });
  assert.equal((await selection(page)).type, 'Log');
});

test('an array of one\'s own is fed; what an operator refuses is told and shown; a long run stops', async () => {
  await open([net, init]);
  const wrong = execFileSync(weft, ['run', net, '--init', init, '--fill', 'digits', '--shape', 'data=2,1,28,28', '--fetch', 'data', '--out', folder]);
  assert.ok(wrong);
  const bytes = readFileSync(join(folder, 'data.npy'));
  await page.evaluate((base64) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], 'data.npy'));
    document.querySelector('.run').dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: transfer }));
  }, bytes.toString('base64'));
  await page.waitForFunction(() => document.querySelector('[aria-label="Shape of data"]')?.value === '2,1,28,28');
  assert.equal(await page.inputValue('[aria-label="Shape of label"]'), '2');
  await page.fill('[aria-label="Shape of label"]', '3');
  await page.press('[aria-label="Shape of label"]', 'Enter');
  await page.waitForFunction(() => document.querySelector('[aria-label="Shape of label"]')?.value === '3');
  await idle();
  await page.click('.run .go');
  await page.locator('.run .failed').waitFor({ timeout: 60_000 });
  assert.match(await page.textContent('.run .failed'), /op 8 LabelCrossEntropy/);
  await whenSelected(page, 8);
  await page.fill('[aria-label="Shape of label"]', '2');
  await page.press('[aria-label="Shape of label"]', 'Enter');
  await page.waitForFunction(() => document.querySelector('[aria-label="Shape of label"]')?.value === '2');
  await idle();
  await page.fill('[aria-label=Iterations]', '1000000');
  await page.click('.run .go');
  await page.click('.run button:text-is("Stop")');
  await idle();
});
