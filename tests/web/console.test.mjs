// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The weft command in the page: what it prints is what the command line prints, its files can be opened and saved, a
// command without end can be stopped. In the hosted page and in the single file.

import { test } from 'node:test';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { assert, built, dropAndShow, models, openPage, shotBoth, weft, withBrowser } from './support.mjs';

let server, page;
withBrowser((made) => ({ server, page } = made));

const run = async (line) => {
  const before = await page.locator('.console .asked').count();
  await page.fill('.console input', line);
  await page.press('.console input', 'Enter');
  await page.locator('.console .asked').nth(before).waitFor();
  await page.waitForFunction(() => document.querySelector('.console .progress').childElementCount === 0, null, { timeout: 60_000 });
  return page.locator('.console .out').last().textContent();
};

for (const where of ['hosted', 'single file']) {
  test(`a command prints what the command line prints: ${where}`, async () => {
    await openPage(page, where === 'hosted' ? server.url : pathToFileURL(join(built, 'weft.html')).href);
    await dropAndShow(page, [join(models, 'resnet50_train_2gpu.pb')]);
    await page.click('.rail [data-tool=console]');
    assert.equal(await run('print resnet50_train_2gpu.pb --ssa'), execFileSync(weft, ['print', join(models, 'resnet50_train_2gpu.pb'), '--ssa']).toString());
    await run('weft pass dead-ops resnet50_train_2gpu.pb -o "less ops.pb"');
    await shotBoth(page, `console-${where.replace(' ', '-')}`);
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('.made >> text=Save')]);
    const native = join(process.env.TMPDIR ?? '/tmp', `weft-console-${process.pid}.pb`);
    execFileSync(weft, ['pass', 'dead-ops', join(models, 'resnet50_train_2gpu.pb'), '-o', native]);
    assert.deepEqual(readFileSync(await download.path()), readFileSync(native));
    await page.click('.made >> text=Open');
    await page.waitForFunction(() => window.weft.app.state.documents.some((d) => d.name === 'less ops.pb'));
  });
}

test('a command that does not end is stopped, and the next one runs', async () => {
  const endless = Buffer.from(`external_input: "c" op { type: "While" input: "c" arg { name: "loop_net" n { name: "body" op { type: "Copy" input: "c" output: "d" external_input: "c" } } } }`.replace(' external_input: "c" } }', ' } external_input: "c" }'));
  await openPage(page, server.url);
  await dropAndShow(page, [{ name: 'endless.pbtxt', bytes: endless }]);
  await page.click('.rail [data-tool=console]');
  const fill = Buffer.from(`op { type: "ConstantFill" output: "c" arg { name: "shape" ints: 1 } arg { name: "dtype" i: 5 } arg { name: "value" i: 1 } }`);
  await dropAndShow(page, [{ name: 'init.pbtxt', bytes: fill }]);
  await page.fill('.console input', 'run endless.pbtxt --init init.pbtxt');
  await page.press('.console input', 'Enter');
  await page.click('.console .progress >> text=Stop', { timeout: 20_000 });
  assert.match(await run('--version'), /^weft /);
});
