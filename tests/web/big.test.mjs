// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Large nets: they open, can be read and moved about in, and work on them can be cancelled. Needs generate_net
// (WEFT_GENERATE, else the release build's).

import { after, before, test } from 'node:test';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assert, launch, openPage, root, selection, serve, settle, shot, shotBoth, shots } from './support.mjs';

const generate = process.env.WEFT_GENERATE ?? join(root, 'build/release/tests/support/generate_net');
const folder = mkdtempSync(join(tmpdir(), 'weft-big-'));
let server, browser, page;
before(async () => {
  server = await serve();
  browser = await launch();
  page = browser.page;
});
after(async () => {
  assert.deepEqual(browser.problems, []);
  await browser.close();
  await server.close();
  rmSync(folder, { recursive: true });
});

function generated(kind, ops) {
  const file = join(folder, `${kind}_${ops}.pb`);
  execFileSync(generate, [kind, String(ops), file]);
  return file;
}

/** Gives the page a file as the open dialog does: bytes stay on disk until it reads them. */
async function choose(file) {
  const chooser = page.waitForEvent('filechooser');
  await page.click('.start .open');
  await (await chooser).setFiles(file);
}

async function openBig(kind, ops) {
  const file = generated(kind, ops);
  await openPage(page, server.url);
  await choose(file);
  // Every 20 ms the page's own thread notes that it is alive.
  await page.evaluate(() => {
    window.beats = [performance.now()];
    setInterval(() => window.beats.push(performance.now()), 20);
  });
  await page.waitForFunction(() => window.weft.app.timing.firstFrame > 0 || document.querySelector('.notice'), null, { timeout: 240_000 });
  assert.equal(await page.locator('.notice').count(), 0);
  await page.waitForFunction(() => window.weft.app.state.view.lines > 0);
  rmSync(file);
}
const longestPause = () => page.evaluate(() => Math.max(...window.beats.slice(1).map((t, i) => t - window.beats[i])));

for (const [kind, ops] of [['chain', 1_000_000], ['star', 1_000_000], ['ladder', 300_000]]) {
  test(`a ${kind} of ${ops.toLocaleString('en')} operators opens, is read from end to end, and moves`, { timeout: 400_000 }, async () => {
    await openBig(kind, ops);
    const n = await page.evaluate(() => window.weft.app.state.view.net.numOps);
    assert.ok(Math.abs(n - ops) <= 3, `${n}`);
    await shotBoth(page, `big-${kind}`);
    // The last operator, its text, and the way back to the first.
    await page.evaluate((op) => window.weft.app.selectOp(op).then(() => window.weft.app.revealFully()), n - 1);
    await settle(page);
    assert.equal((await selection(page)).op, n - 1);
    assert.ok(await page.evaluate((op) => window.weft.render.opRect(op)?.own, n - 1), 'its own box shows');
    await page.waitForFunction((op) => document.querySelector(`.line.selected[data-op="${op}"]`), n - 1);
    await shot(page, `big-${kind}-last`);
    for (const scale of [1, 0.1, 0.01, 0.001]) {
      await page.evaluate((s) => {
        const b = window.weft.render.bounds();
        window.weft.view.set({ x: b.x + b.w / 2, y: b.y + b.h * 0.6, scale: s });
      }, scale);
      await settle(page);
      const frame = await page.evaluate(() => window.weft.view.frame);
      assert.ok(frame.quads < 60_000, `${frame.quads} quads at ${scale}`);
    }
    const pause = await longestPause();
    console.log(`${kind}: longest pause of the page's thread ${pause.toFixed(0)} ms`);
    assert.ok(pause < 3000, `the page stood still for ${pause.toFixed(0)} ms`);
  });
}

test('a large net shows in outline while it is decoded, and goes when that is cancelled', { timeout: 400_000 }, async () => {
  const file = generated('training', 600_000);
  await openPage(page, server.url);
  const start = page.locator('.start'), sketch = page.locator('.view.sketched #graph');
  // Looked at and cancelled in the page: the net may be read before several questions from here are answered.
  const seen = page.evaluate(async () => {
    const { app, render } = window.weft, find = (what) => document.querySelector(what);
    while (!find('.view.sketched #graph') || !find('.working').textContent.startsWith('training_600000.pb in outline, while it is read')) await new Promise(requestAnimationFrame);
    const now = { nodes: render.counts().nodes, net: app.state.view, start: find('.start').checkVisibility(), pointer: getComputedStyle(find('#graph')).pointerEvents };
    find('.working button').click();
    return now;
  });
  await choose(file);
  const { nodes, ...rest } = await seen;
  assert.ok(nodes > 100, `${nodes} boxes`);
  assert.deepEqual(rest, { net: null, start: false, pointer: 'none' });
  await start.waitFor();
  assert.equal(await sketch.count(), 0);
  assert.equal(await page.locator('.notice').count(), 0);
  await choose(file);
  await sketch.waitFor();
  await page.screenshot({ path: join(shots, 'big-sketch.png') });
  await page.waitForFunction(() => window.weft.app.state.view && !window.weft.app.state.sketched, null, { timeout: 240_000 });
  assert.equal(await sketch.count(), 0);
  assert.ok(await page.evaluate(() => window.weft.app.state.view.net.numOps) > 590_000);
  rmSync(file);
});

test('work on a large net is cancelled within 100 ms, and the page lives on', { timeout: 400_000 }, async () => {
  await openBig('training', 300_000);
  const times = await page.evaluate(async () => {
    const { engine, state } = window.weft.app;
    const out = [];
    for (const wait of [30, 120, 400]) {
      const task = engine.scene(state.view.net.id, { expandAll: true, horizontal: wait === 120, showParams: wait !== 400 });
      let ended = '';
      const end = task.result.then(() => (ended = 'finished'), (e) => (ended = e.failure?.code ?? String(e)));
      await new Promise((done) => setTimeout(done, wait));
      if (ended) continue;
      const start = performance.now();
      task.cancel();
      await end;
      out.push({ ms: performance.now() - start, ended });
    }
    return out;
  });
  console.log('cancelled in', times.map((t) => `${t.ms.toFixed(0)} ms`).join(', '));
  assert.ok(times.length > 0);
  for (const { ms, ended } of times) {
    assert.equal(ended, 'cancelled');
    assert.ok(ms < 100, `${ms} ms`);
  }
  // Questions are answered while work goes on: long before it ends, whatever the machine's speed.
  const asked = await page.evaluate(async () => {
    const { engine, state } = window.weft.app;
    const task = engine.scene(state.view.net.id, { expandAll: true });
    let ended = false;
    task.result.then(() => (ended = true), () => {});
    let answers = 0;
    for (const until = performance.now() + 20_000; !ended && answers < 3 && performance.now() < until; ++answers) {
      await engine.ask('describeOp', state.view.net.id, 1000 + answers);
    }
    task.cancel();
    return { answers, ended };
  });
  assert.deepEqual(asked, { answers: 3, ended: false });
  await page.evaluate(() => window.weft.app.selectOp(5, { reveal: true }));
  assert.equal((await selection(page)).op, 5);
});
