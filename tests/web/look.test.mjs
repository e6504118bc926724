// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// How it looks and for whom: themes, dense screens, narrow windows, keys and palette, the tree for screen readers.

import { test } from 'node:test';
import { join } from 'node:path';
import { assert, dropAndShow, inked, launch, models, openPage, press, settle, shot, shotBoth, whenSelected, withBrowser } from './support.mjs';

let server, browser, page;
withBrowser(async (made) => {
  ({ server, browser, page } = made);
  await openPage(page, server.url);
  await dropAndShow(page, [join(models, 'dlrm_26.pb'), join(models, 'dlrm_26_init.pb')]);
});

/** The colour of the graph's paper, read from the canvas. */
const paper = () => page.evaluate(async () => {
  const { view } = window.weft;
  const copy = document.createElement('canvas');
  copy.width = copy.height = 1;
  const context = copy.getContext('2d');
  await new Promise((done) => view.onFrame(done));
  context.drawImage(view.canvas, 2, view.canvas.height - 3, 1, 1, 0, 0, 1, 1);
  return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
});
const luminance = (hex) => {
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a, b) => {
  const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
  return (x + 0.05) / (y + 0.05);
};

test('light, dark and high contrast: graph and panels change together, text keeps 4.5 to 1', async () => {
  for (const name of ['light', 'dark', 'contrast']) {
    await page.evaluate((t) => window.weft.theme.set(t), name);
    const css = await page.evaluate(() => {
      const style = getComputedStyle(document.documentElement);
      return Object.fromEntries(['paper', 'panel', 'box', 'ink', 'ink2', 'forward', 'backward', 'update', 'error'].map((n) => [n, style.getPropertyValue('--' + n).trim()]));
    });
    for (const ink of ['ink', 'ink2', 'forward', 'backward', 'update', 'error']) {
      for (const ground of ['paper', 'panel', 'box']) assert.ok(contrast(css[ink], css[ground]) >= 4.5, `${name}: ${ink} on ${ground}: ${contrast(css[ink], css[ground]).toFixed(2)}`);
    }
    const [r, g, b] = await paper();
    const want = [1, 3, 5].map((i) => parseInt(css.paper.slice(i, i + 2), 16));
    assert.ok(Math.abs(r - want[0]) + Math.abs(g - want[1]) + Math.abs(b - want[2]) < 40, `${name}: canvas ${[r, g, b]}, page ${want}`);
    await shot(page, `dlrm-${name}`);
  }
  await page.evaluate(() => window.weft.theme.set('system'));
  await page.emulateMedia({ colorScheme: 'dark' });
  assert.equal(await page.evaluate(() => window.weft.theme.shown), 'dark');
  await page.emulateMedia({ colorScheme: 'light' });
  assert.equal(await page.evaluate(() => window.weft.theme.shown), 'light');
});

test('the theme menu works by keyboard', async () => {
  await page.click('[aria-label=Theme]');
  await press(page, 'ArrowDown');
  await press(page, 'ArrowDown');
  await press(page, 'Enter');
  assert.equal(await page.evaluate(() => window.weft.theme.name), 'dark');
  await page.evaluate(() => window.weft.theme.set('system'));
});

test('? lists the keys, the palette runs commands', async () => {
  await page.focus('#graph');
  await press(page, '?');
  await page.waitForSelector('dialog.help[open]');
  assert.ok((await page.locator('.help dd').count()) > 30);
  // The signs on boxes are explained; the dialog closes by its button and by Escape.
  assert.match(await page.textContent('.help .signs'), /in place: writes a blob that it reads=/);
  await shotBoth(page, 'help');
  await page.click('dialog [aria-label=Close]');
  await page.waitForSelector('dialog', { state: 'detached' });
  await press(page, '?');
  await page.waitForSelector('dialog.help[open]');
  await press(page, 'Escape');
  await page.waitForSelector('dialog', { state: 'detached' });
  await press(page, 'Control+Shift+P');
  await page.waitForSelector('dialog.palette[open]');
  await shot(page, 'palette');
  await page.keyboard.type('high contrast');
  await press(page, 'Enter');
  assert.equal(await page.evaluate(() => window.weft.theme.name), 'contrast');
  await page.waitForSelector('dialog', { state: 'detached' });
  await page.evaluate(() => window.weft.theme.set('light'));
});

test('the outline is a tree that a keyboard walks; the selection is announced', async () => {
  await page.focus('#graph');
  await press(page, 'o');
  await page.waitForSelector('.outline [role=treeitem]');
  assert.equal(await page.getAttribute('.outline', 'role'), 'tree');
  const first = page.locator('.outline [role=treeitem]').first();
  await first.focus();
  const scopes = await page.locator('.outline [data-scope]').count();
  if (scopes > 0) {
    await page.locator('.outline [data-scope]').first().focus();
    await press(page, 'ArrowRight');
    await page.waitForSelector('.outline [role=group] [role=treeitem]');
    await press(page, 'ArrowDown');
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-level')), '2');
  }
  const op = page.locator('.outline [data-op]').first();
  await op.focus();
  await press(page, 'Enter');
  const id = Number(await op.getAttribute('data-op'));
  await whenSelected(page, id);
  assert.equal(await op.getAttribute('aria-selected'), 'true');
  assert.match(await page.textContent('[aria-live=polite].visually-hidden'), new RegExp(`operator ${id}`));
  await shot(page, 'outline');
  await page.click('[data-tab=text]');
});

test('every control has a name', async () => {
  const nameless = await page.evaluate(() => [...document.querySelectorAll('button, input, canvas, [role=tree], aside')]
    .filter((e) => !(e.getAttribute('aria-label') || e.textContent.trim() || e.title)).map((e) => e.outerHTML.slice(0, 80)));
  assert.deepEqual(nameless, []);
});

test('a lost graphics context comes back with the same picture', async () => {
  const before = await inked(page);
  assert.ok(before > 200);
  await page.evaluate(async () => {
    const lose = window.weft.view.canvas.getContext('webgl2').getExtension('WEBGL_lose_context');
    const restored = new Promise((done) => window.weft.view.canvas.addEventListener('webglcontextrestored', done, { once: true }));
    lose.loseContext();
    await new Promise((done) => setTimeout(done, 200));
    lose.restoreContext();
    await restored;
  });
  const after = await inked(page);
  assert.ok(Math.abs(after - before) < before * 0.1, `${before}, then ${after}`);
  browser.problems.length = 0; // the browser remarks on a lost context
});

test('lanes of devices keep their titles from afar, in the light and the dark; nothing is under them', async () => {
  await dropAndShow(page, [join(models, 'resnet50_train_8gpu.pb')]);
  for (const [name, options] of [['folded', {}], ['all', { foldReplicas: false }], ['across', { horizontal: true }]]) {
    await page.evaluate((o) => window.weft.app.change(o), options);
    await page.evaluate(() => window.weft.view.fit(undefined, false));
    const { first, room, corner, scale } = await page.evaluate(() => {
      const { render, view } = window.weft, { scale } = view.camera, bounds = render.bounds(), box = render.opRect(0);
      return { first: view.toScreen(box.x, box.y), corner: view.toScreen(bounds.x, bounds.y), room: render.headingRoom(scale), scale };
    });
    assert.ok(scale < 0.2 && (room.left > 60 || room.top > 15), `${name}: ${JSON.stringify(room)}`);
    assert.ok(corner.x >= room.left - 1 && corner.y >= room.top - 1 && first.x >= room.left && first.y >= room.top, `${name}: ${JSON.stringify([corner, first, room])}`);
    await shotBoth(page, `lanes-${name}`);
  }
});

test('dense and narrow screens', async () => {
  await page.setViewportSize({ width: 640, height: 800 });
  await settle(page);
  await shot(page, 'narrow');
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  assert.equal(overflow, false);
  await page.setViewportSize({ width: 1440, height: 900 });
  const dense = await launch({ scale: 2, dark: true });
  await openPage(dense.page, server.url);
  await dropAndShow(dense.page, [join(models, 'char_rnn_2.pb'), join(models, 'char_rnn_2_init.pb')]);
  const size = await dense.page.evaluate(() => [window.weft.view.canvas.width / window.weft.view.canvas.clientWidth, window.weft.theme.shown]);
  assert.deepEqual(size, [2, 'dark']);
  await shot(dense.page, 'char_rnn-dense-dark');
  assert.deepEqual(dense.problems, []);
  await dense.close();
});
