// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The timeline: what lives at a moment is what `weft shapes --json` tells, what has not run is veiled, the memory curve
// and the timeline share one hand.

import { test } from 'node:test';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { assert, dropAndShow, models, openPage, opPoint, pixels, press, shotBoth, weft, withBrowser } from './support.mjs';

let server, page;
withBrowser((made) => ({ server, page } = made));

const files = ['alexnet_train.pb', 'alexnet_train_init.pb'].map((name) => join(models, name));
const native = (...words) => JSON.parse(spawnSync(weft, ['shapes', files[0], '--init', files[1], ...words, '--json'], { maxBuffer: 1 << 28 }).stdout);
const alive = (told, op) => told.blobs.filter((b) => b.live && b.live[0] <= op && op <= b.live[1]);
const hand = () => page.evaluate(() => window.weft.app.tint.at);
const moved = (op) => page.waitForFunction((to) => window.weft.app.tint.at === to, op);
const shown = () => page.textContent('.timeline [aria-expanded]');

test('a key opens it; versions and counts at each moment are the command’s, without any shape given', async () => {
  await openPage(page, server.url);
  await dropAndShow(page, files);
  await press(page, 'l');
  const told = native();
  await moved(told.peak.op);
  assert.equal(await shown(), `${alive(told, told.peak.op).length} blobs live`);
  await page.focus('.timeline .curve');
  await press(page, 'Home');
  await moved(0);
  for (let op = 1; op < 6; ++op) {
    await press(page, 'ArrowRight');
    await moved(op);
    assert.equal(await shown(), `${alive(told, op).length} blobs live`);
  }
  await press(page, 'End');
  await moved(told.operators.length - 1);
  await page.click('.timeline [aria-expanded]');
  const rows = await page.locator('.timeline .costrow .what').allTextContents();
  const names = new Set(alive(told, told.operators.length - 1).map((b) => `${b.name}@${b.version}`));
  assert.ok(rows.length > 5 && rows.every((row) => names.has(row)));
});

test('what has not run yet is veiled', async () => {
  await press(page, 'Escape');
  await page.evaluate(() => window.weft.app.selectOp(3, { reveal: true }).then(() => window.weft.app.select(null)));
  const ink = async (op) => {
    await page.evaluate(() => new Promise((done) => window.weft.view.onFrame(done)));
    const box = await page.locator('#graph').boundingBox(), at = await opPoint(page, op);
    const data = await pixels(page, { x: Math.round(at.x - box.x - 30), y: Math.round(at.y - box.y - 12), w: 60, h: 24 });
    let darkest = 255;
    for (let i = 0; i < data.length; i += 4) darkest = Math.min(darkest, data[i + 1]);
    return darkest;
  };
  await page.evaluate(() => window.weft.theme.set('light'));
  await page.evaluate(() => window.weft.app.tint.moveTo(3));
  await page.waitForFunction(() => !window.weft.view.flight);
  const ran = await ink(3), not = await ink(4);
  assert.ok(ran < 120 && not > 150, `${ran} ${not}`);
  await page.evaluate(() => window.weft.app.tint.moveTo(4));
  assert.ok((await ink(4)) < 120);
});

test('the memory curve of the tool and the timeline move together; bytes are the command’s', async () => {
  await page.click('.rail [data-tool=shapes]');
  await page.fill('.shapes [aria-label="Shape of data"]', '8,3,224,224');
  await page.fill('.shapes [aria-label="Shape of label"]', '8');
  await page.selectOption('.shapes [aria-label="Type of label"]', 'int32');
  const told = native('--input', 'data=8,3,224,224', '--input', 'label=8:int32');
  await page.waitForFunction((bytes) => window.weft.app.measures.told()?.peak.bytes === bytes, told.peak.bytes);
  const curve = await page.locator('.shapes .curve').boundingBox();
  await page.mouse.move(curve.x + curve.width * 0.25, curve.y + 30);
  await page.mouse.down();
  await page.mouse.move(curve.x + curve.width * 0.5, curve.y + 30, { steps: 4 });
  await page.mouse.up();
  const op = await hand();
  assert.ok(Math.abs(op - told.operators.length / 2) <= 1, String(op));
  assert.equal(await page.getAttribute('.timeline .curve', 'aria-valuenow'), String(op));
  assert.equal(await shown(), `${alive(told, op).length} blobs live`);
  const mb = `${(told.live[op] / 1e6).toFixed(1)} MB`;
  assert.equal(await page.textContent('.shapes [data-live]'), mb);
  assert.ok((await page.textContent('.timeline .where')).includes(mb));
  assert.deepEqual(await page.evaluate(() => window.weft.app.measures.told().live), told.live);
  await shotBoth(page, 'timeline-alexnet');
  await page.click('.timeline [aria-label="Close the timeline"]');
  assert.equal(await hand(), null);
});
