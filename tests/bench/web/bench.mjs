// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// How long a reader waits: from dropped bytes to the first frame that shows the net's boxes (read back from the pixels)
// and to the layout of everything expanded; engine and GL apart; milliseconds a frame while moving; memory.
//
//   node tests/bench/web/bench.mjs [FILE.pb | KIND:OPS]...     KIND as generate_net has it (training, chain, star, ladder)
//
// WEFT_GENERATE names the program generate_net (build/release/tests/support/generate_net).

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { launch, models, openPage, root, serve, shot } from '../../web/support.mjs';

const generate = process.env.WEFT_GENERATE ?? join(root, 'build/release/tests/support/generate_net');
const cases = process.argv.slice(2);
if (cases.length === 0) cases.push(join(models, 'resnet50_train_2gpu.pb'), 'training:10000', 'training:100000', 'training:1000000');

const folder = mkdtempSync(join(tmpdir(), 'weft-bench-'));
const server = await serve();

/** Resident memory of a process and all below it, in MB. */
function memory(pid) {
  const table = execFileSync('ps', ['-eo', 'pid=,ppid=,rss=']).toString().trim().split('\n').map((line) => line.trim().split(/\s+/).map(Number));
  const below = new Set([pid]);
  for (let grew = true; grew; ) {
    grew = false;
    for (const [id, parent] of table) if (below.has(parent) && !below.has(id)) grew = !!below.add(id);
  }
  return Math.round(Math.max(...table.filter(([id]) => below.has(id)).map(([, , rss]) => rss)) / 1024);
}

const rows = [];
for (const what of cases) {
  let file = what;
  const [kind, ops] = what.split(':');
  if (ops && !what.includes('/')) {
    file = join(folder, `${kind}_${ops}.pb`);
    execFileSync(generate, [kind, ops, file]);
  }
  const browser = await launch();
  const { page } = browser;
  await openPage(page, server.url);
  // Everything is loaded and compiled before the clock starts: the page is open, then a file is dropped.
  await page.evaluate(() => window.weft.app.engine.ask('documents'));
  await page.waitForTimeout(1500);
  await page.evaluate(() => {
    const input = document.createElement('input');
    input.type = 'file';
    input.id = 'bench';
    input.hidden = true;
    document.body.append(input);
  });
  await page.setInputFiles('#bench', file);
  const first = await page.evaluate(async () => {
    const { view, render, app, theme } = window.weft;
    view.measure = true;
    const transfer = new DataTransfer();
    transfer.items.add(document.getElementById('bench').files[0]);
    // Pixels that are not paper: once the empty page is gone they are boxes.
    const copy = document.createElement('canvas');
    const context = copy.getContext('2d', { willReadFrequently: true });
    const boxes = () => {
      copy.width = 200;
      copy.height = 150;
      context.drawImage(view.canvas, 0, 0, 200, 150);
      const data = context.getImageData(0, 0, 200, 150).data;
      const paper = theme.rendererColors()[0];
      let different = 0;
      for (let i = 0; i < data.length; i += 4) {
        if (Math.abs(data[i] - (paper >> 16)) + Math.abs(data[i + 1] - ((paper >> 8) & 255)) + Math.abs(data[i + 2] - (paper & 255)) > 24) ++different;
      }
      return different;
    };
    const start = performance.now();
    document.querySelector('#graph').dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: transfer }));
    // A frame counts when it was drawn (GL has finished: view.measure); its pixels are looked at afterwards, which takes
    // software GL 100 ms and more. Only frames that the page draws of itself: others would take its processor from it.
    let sketch, t1;
    const drawn = view.drawn;
    const error = await new Promise((done) => {
      view.drawn = () => {
        drawn();
        t1 = performance.now();
        const whole = app.state.view !== null;
        if (render.counts().nodes === 0 || (!whole && sketch) || boxes() <= 100) return;
        if (whole) done();
        else sketch = t1 - start;
      };
      app.on(['working'], () => document.querySelector('.notice') && done(document.querySelector('.notice').textContent));
      setTimeout(() => done('no frame after 240 s'), 240000);
    });
    view.drawn = drawn;
    if (error) return { error };
    const result = { first: t1 - start, sketch, open: app.timing.engineOpen, scene: app.timing.engineScene, paint: view.frame.paint, gl: view.frame.gl, nodes: render.counts().nodes };
    return result;
  });
  let full = {};
  let moving = {};
  if (!first.error) {
    await shot(page, `bench-${basename(file, '.pb')}`);
    full = await page.evaluate(async () => {
      const { view, render, app } = window.weft;
      const start = performance.now();
      await app.change({ expandAll: true });
      await new Promise((done) => view.onFrame(done));
      view.fit(undefined, false);
      await new Promise((done) => view.onFrame(done));
      const error = document.querySelector('.notice')?.textContent;
      return { full: performance.now() - start, scene: app.engine.spent.scene, gl: view.frame.gl, nodes: render.counts().nodes, edges: render.counts().edges, error };
    });
    moving = await page.evaluate(async () => {
      const { view, render } = window.weft;
      const bounds = render.bounds();
      const paints = [], gls = [];
      let quads = 0;
      for (const scale of [1, 0.5, 0.2, 0.1, 0.05, 0.021, 0.01]) {
        for (let i = 0; i < 12; ++i) {
          view.set({ x: bounds.x + bounds.w * (0.15 + 0.06 * i), y: bounds.y + bounds.h * (0.1 + 0.07 * i), scale });
          await new Promise((done) => view.onFrame(done));
          paints.push(view.frame.paint);
          gls.push(view.frame.gl);
          quads = Math.max(quads, view.frame.quads);
        }
      }
      const at = (list, q) => [...list].sort((a, b) => a - b)[Math.min(Math.floor(list.length * q), list.length - 1)];
      return { paint50: at(paints, 0.5), paint99: at(paints, 0.99), gl50: at(gls, 0.5), gl99: at(gls, 0.99), quads };
    });
  }
  const pid = Number(execFileSync('pgrep', ['-P', String(process.pid), '-o']).toString().trim() || 0);
  const row = { net: basename(file), mb: +(statSync(file).size / 1e6).toFixed(1), first, full, moving, memoryMB: pid ? memory(pid) : 0 };
  rows.push(row);
  const ms = (n) => (n === undefined ? '-' : n.toFixed(n < 10 ? 1 : 0).padStart(6));
  if (first.error) console.log(`${row.net}: ${first.error}`);
  else {
    console.log(`${row.net.padEnd(26)} ${String(row.mb).padStart(6)} MB | ${first.sketch ? `in outline ${ms(first.sketch)} ms, ` : ''}first frame ${ms(first.first)} ms (open ${ms(first.open)}, layout ${ms(first.scene)}, paint ${ms(first.paint)}, GL ${ms(first.gl)}; ${first.nodes} boxes)`
      + ` | all ${ms(full.full)} ms (layout ${ms(full.scene)}, GL ${ms(full.gl)}; ${full.nodes} boxes, ${full.edges} edges)`
      + ` | moving: paint ${ms(moving.paint50)} / ${ms(moving.paint99)} ms, GL ${ms(moving.gl50)} / ${ms(moving.gl99)} ms, most ${moving.quads} quads | largest process ${row.memoryMB} MB`);
    if (full.error) console.log(`  ${full.error}`);
  }
  await browser.close();
}
if (process.env.WEFT_BENCH_JSON) writeFileSync(process.env.WEFT_BENCH_JSON, JSON.stringify(rows, null, 1));
rmSync(folder, { recursive: true });
await server.close();
