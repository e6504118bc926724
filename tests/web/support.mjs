// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the page's tests share: Debian's Chromium driven by playwright-core, a server for the built page on loopback,
// dropping files, screenshots. WEFT_WEB names the built page (build/web), WEFT_SHOTS where pictures go, WEFT the native
// command. WEFT_LATE=200 has the engine get each message up to 200 ms late, as on a busy machine: a test that looks before
// the page is done fails then.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before } from 'node:test';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, extname, join, resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '../..');
export const built = resolve(process.env.WEFT_WEB ?? join(root, 'build/web'));
export const shots = resolve(process.env.WEFT_SHOTS ?? join(root, 'build/web-shots'));
export const models = join(root, 'tests/data/models');
/** The native command, to compare with. */
export const weft = process.env.WEFT ?? join(root, 'build/release/weft');
const { chromium } = createRequire(join(root, 'web/package.json'))('playwright-core');

const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm', '.woff2': 'font/woff2' };

/** Serves a folder on a free port of loopback; `requests` collects what was asked for. */
export async function serve(folder = built) {
  const requests = [];
  const server = createServer((request, response) => {
    const asked = new URL(request.url, 'http://localhost').pathname;
    const path = asked === '/' ? '/index.html' : asked;
    requests.push(path);
    try {
      const body = readFileSync(join(folder, path));
      response.writeHead(200, { 'content-type': types[extname(path)] ?? 'application/octet-stream', 'access-control-allow-origin': '*' });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return { url: `http://127.0.0.1:${server.address().port}/`, requests, close: () => new Promise((done) => server.close(done)) };
}

/** A browser with a profile of its own. */
export async function launch({ width = 1440, height = 900, scale = 1, dark = false } = {}) {
  const profile = mkdtempSync(join(tmpdir(), 'weft-web-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.WEFT_CHROMIUM ?? '/usr/bin/chromium',
    headless: true,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync',
      '--enable-unsafe-swiftshader', '--js-flags=--expose-gc'],
    viewport: { width, height },
    deviceScaleFactor: scale,
    colorScheme: dark ? 'dark' : 'light',
    acceptDownloads: true,
  });
  if (process.env.WEFT_LATE) await context.addInitScript(workersLate, Number(process.env.WEFT_LATE));
  const page = context.pages()[0] ?? (await context.newPage());
  const problems = [];
  // While somebody listens, dialogs come to the tests: from now on, not from some moment after a test asks for one.
  page.on('filechooser', () => {});
  page.on('pageerror', (error) => problems.push(`page error: ${error.message}`));
  page.on('console', (message) => message.type() === 'error' && problems.push(`console: ${message.text()}`));
  return {
    context, page, problems,
    async close() {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

/** In the page: what workers are sent comes late by up to `most` ms, in order. */
function workersLate(most) {
  const { postMessage } = Worker.prototype, last = new WeakMap();
  Worker.prototype.postMessage = function (message, transfer) {
    const held = structuredClone(message, { transfer }), late = new Promise((go) => setTimeout(go, Math.random() * most));
    last.set(this, Promise.all([last.get(this), late]).then(() => postMessage.call(this, held)));
  };
}

/**
 * For the tests of a file: the page's server, a browser and a folder of their own before them, and no problem of the page
 * after them. `ready` gets these, once they are there.
 */
export function withBrowser(ready) {
  const made = { folder: mkdtempSync(join(tmpdir(), 'weft-test-')) };
  before(async () => {
    made.server = await serve();
    made.browser = await launch();
    made.page = made.browser.page;
    await ready(made);
  });
  after(async () => {
    await made.browser.close();
    await made.server.close();
    rmSync(made.folder, { recursive: true, force: true });
    assert.deepEqual(made.browser.problems, []); // last: what stays open keeps the run from ending
  });
}

/** Opens the page and waits until its parts are there. */
export async function openPage(page, url) {
  await page.goto(url);
  await page.waitForFunction(() => window.weft !== undefined && document.fonts.status === 'loaded');
}

/** Drops files as a person does: bytes are handed over first, the drop event comes with them. */
export async function drop(page, files) {
  const data = files.map((file) => (typeof file === 'string' ? { name: basename(file), base64: readFileSync(file).toString('base64') } : { name: file.name, base64: Buffer.from(file.bytes).toString('base64') }));
  await page.evaluate((list) => {
    const transfer = new DataTransfer();
    for (const { name, base64 } of list) {
      const text = atob(base64);
      transfer.items.add(new File([Uint8Array.from(text, (c) => c.charCodeAt(0))], name));
    }
    const target = document.querySelector('#graph') ?? document.body;
    for (const type of ['dragenter', 'dragover', 'drop']) target.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: transfer }));
  }, data);
}

/** Drops files and waits until the net shows (or a notice does). */
export async function dropAndShow(page, files) {
  const before = await page.evaluate(() => window.weft.view.frame.count);
  await drop(page, files);
  await page.waitForFunction((count) => (window.weft.app.timing.firstFrame > 0 && window.weft.view.frame.count > count && !window.weft.app.state.working && window.weft.app.state.view?.lines > 0) || document.querySelector('.notice') !== null, before, { timeout: 120_000 });
}

export const press = (page, key) => page.keyboard.press(key);

/** What the page has selected, in few words. */
export const selection = (page) => page.evaluate(() => {
  const s = window.weft.app.state.selection;
  return s && { what: s.what, op: s.op, scope: s.scope, blob: s.details?.name, type: s.details?.type, value: s.value, version: s.details?.versions?.find((v) => v.value === s.value)?.version };
});

/** Waits until the page has this op selected: keys and clicks that go to one ask the engine about it first. */
export const whenSelected = (page, op) => page.waitForFunction((id) => window.weft.app.state.selection?.op === id, op);

/** Where an op's box is on the page. */
export const opPoint = (page, op) => page.evaluate((id) => {
  const { render, view } = window.weft;
  const rect = render.opRect(id);
  if (!rect) return null;
  const at = view.toScreen(rect.x + rect.w / 2, rect.y + rect.h / 2);
  const box = view.canvas.getBoundingClientRect();
  return { x: box.left + at.x, y: box.top + at.y, own: rect.own };
}, op);

/** Lets animations end and a frame be drawn. */
export const settle = async (page) => {
  await page.waitForTimeout(320);
  await page.evaluate(() => new Promise((done) => window.weft.view.onFrame(done)));
};

export async function shot(page, name) {
  mkdirSync(shots, { recursive: true });
  await settle(page);
  await page.screenshot({ path: join(shots, `${name}.png`) });
}

/** The same picture in the light and the dark theme. */
export async function shotBoth(page, name) {
  for (const theme of ['light', 'dark']) {
    await page.evaluate((t) => window.weft.theme.set(t), theme);
    await shot(page, `${name}-${theme}`);
  }
  await page.evaluate(() => window.weft.theme.set('system'));
}

/** Colours of the canvas in one row or column of pixels, read back after a frame. */
export const pixels = (page, rect) => page.evaluate(async ({ x, y, w, h }) => {
  const { view } = window.weft;
  await new Promise((done) => view.onFrame(done));
  const copy = document.createElement('canvas');
  copy.width = w;
  copy.height = h;
  const context = copy.getContext('2d');
  view.draw?.();
  context.drawImage(view.canvas, x, y, w, h, 0, 0, w, h);
  return [...context.getImageData(0, 0, w, h).data];
}, rect);

/** How many pixels of the canvas, drawn small, are not paper: boxes, when a net shows. */
export const inked = (page) => page.evaluate(async () => {
  const { view, theme } = window.weft;
  await new Promise((done) => view.onFrame(done));
  const copy = document.createElement('canvas');
  [copy.width, copy.height] = [200, 200];
  const context = copy.getContext('2d');
  context.drawImage(view.canvas, 0, 0, 200, 200);
  const data = context.getImageData(0, 0, 200, 200).data, paper = theme.rendererColors()[0];
  let n = 0;
  for (let i = 0; i < data.length; i += 4) if (Math.abs(data[i] - (paper >> 16)) + Math.abs(data[i + 2] - (paper & 255)) > 30) ++n;
  return n;
});

export { assert };
