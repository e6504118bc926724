// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Every pass of the command as a preview in the page: what is saved is what the command writes, what is told is what it
// tells.

import { test } from 'node:test';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assert, dropAndShow, openPage, root, shotBoth, weft, withBrowser } from './support.mjs';

let server, page, folder;
withBrowser((made) => ({ server, page, folder } = made));

const net = join(root, 'web/examples/lenet_train.pbtxt'), init = join(root, 'web/examples/lenet_train_init.pbtxt');
// What is typed before the pass runs, and the command's words for it.
const cases = {
  'dead-ops': {}, 'rename-prefix': { fill: { to: 'left/' } }, retarget: { fill: { device: 'cuda:1' } }, devices: {}, 'device-copies': {},
  predictor: { init: true, fill: { outputs: 'softmax' } }, inference: {}, 'merge-init': { init: true, forward: true }, fold: {}, unfold: {}, release: {},
  recompute: { init: true, fill: { shape: 'data=256,1,28,28' } }, memory: { init: true, fill: { shape: 'data=16,1,28,28' } },
  clone: { fill: { name: 'twin', prefix: 'twin/' } }, extract: { fill: { name: 'part', outputs: 'softmax' } },
};

test('each pass previews, tells and saves what the command does', async () => {
  const commands = JSON.parse(execFileSync(weft, ['pass', '--json'])).commands;
  assert.deepEqual(commands.map((c) => c.words.at(-1)).sort(), Object.keys(cases).sort());
  const part = join(folder, 'forward.pbtxt'); // a training net writes what its init net fills, and is not merged
  execFileSync(weft, ['extract', net, '--name', 'forward', '--inputs', 'data', '--outputs', 'softmax', '-o', part]);
  const begin = async (file) => {
    await openPage(page, server.url);
    await dropAndShow(page, [file, init]);
    await page.click('.rail [data-tool=passes]');
  };
  await begin(net);
  for (const { words, files } of [...commands.filter((c) => !cases[c.words.at(-1)].forward), ...commands.filter((c) => cases[c.words.at(-1)].forward)]) {
    const name = words.at(-1), { fill = {}, init: needsInit = false, forward = false } = cases[name];
    if (forward) await begin(part);
    await page.click(`.passes [data-pass="${name}"]`, { timeout: 60_000 });
    const hasInit = files.some((f) => f.name === 'INIT');
    assert.ok(!needsInit || hasInit);
    for (const [option, value] of Object.entries(fill)) {
      await page.fill(`.passes .form [aria-label="${option}"]`, value);
      await page.press(`.passes .form [aria-label="${option}"]`, 'Enter');
    }
    const given = Object.entries(fill).flatMap(([option, value]) => ['--' + option, value]);
    await page.waitForFunction(({ name, given }) => {
      const { preview, view } = window.weft.app.state;
      const said = preview?.words ?? [];
      return said.includes(name) && given.every((word) => said.includes(word)) && view?.net.document === preview.document && document.querySelector('.passes .told');
    }, { name, given }, { timeout: 60_000 });
    // The page pairs the init net by content.
    const named = files.map((f) => (f.name === 'INIT' ? init : forward ? part : net));
    const out = join(folder, `${name}.pb`);
    const options = await page.evaluate(() => window.weft.app.state.preview.words);
    const typed = options.slice(words.length + files.length, options.indexOf('-o')).map((word) => (word.endsWith('_init.pb') ? join(folder, 'predictor_init.pb') : word));
    const told = JSON.parse(execFileSync(weft, [...words, ...named, ...typed, '-o', out, '--json']));
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('.previewbar >> text="Save .pb"')]);
    assert.deepEqual(readFileSync(await download.path()), readFileSync(out), name);
    const rows = Object.fromEntries((await page.locator('.passes .told tr').evaluateAll((list) => list.map((row) => [...row.children].map((c) => c.textContent)))));
    const after = JSON.parse(execFileSync(weft, ['print', out, '--json'], { maxBuffer: 1 << 28 })).nets[0];
    assert.equal(rows.operators.split(' → ')[1], String(after.operators), name);
    for (const key of ['removed', 'folded', 'freed', 'copies', 'renamed']) if (typeof told[key] === 'number') assert.equal(rows[key], String(told[key]), name);
    if (name === 'memory') {
      assert.ok(told.peak_after < told.peak_before);
      assert.match(rows['peak before'], /[KM]B$/);
      await shotBoth(page, 'passes-memory');
    }
    if (name === 'predictor') await page.waitForSelector('.passes >> text=lenet_train_predictor_init.pb');
  }
  await shotBoth(page, 'passes');
});
