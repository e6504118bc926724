// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What leaves the page: pictures that look like the view, nets as the command writes them, a page with the net inside
// that opens offline, an address that shows the same again.

import { after, test } from 'node:test';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { assert, built, dropAndShow, inked, models, openPage, selection, serve, settle, shotBoth, shots, weft, whenSelected, withBrowser } from './support.mjs';

let server, browser, page, folder;
withBrowser((made) => ({ server, browser, page, folder } = made));

/** Presses and gives the file that is saved. */
async function saved(where, press) {
  const [download] = await Promise.all([where.waitForEvent('download', { timeout: 60_000 }), where.click(press)]);
  const path = join(folder, download.suggestedFilename());
  await download.saveAs(path);
  return path;
}
/** What is in an SVG, read where no policy has a say about its style. */
async function parsed(svg) {
  const blank = await browser.context.newPage();
  const read = await blank.evaluate((text) => {
    const svg_ = new DOMParser().parseFromString(text, 'image/svg+xml');
    return { error: svg_.querySelector('parsererror')?.textContent ?? '', scripts: svg_.querySelectorAll('script').length, text: svg_.documentElement.textContent };
  }, svg);
  await blank.close();
  return read;
}
const choose = (label) => page.click(`.export .segments button:text-is("${label}")`);
const pictureSize = (path) => ({ w: readFileSync(path).readUInt32BE(16), h: readFileSync(path).readUInt32BE(20) });

/** How alike two pictures are: the share of 4 by 4 cells whose mean colour is about the same. */
const alike = (where, a, b) => where.evaluate(async ([left, right]) => {
  const load = async (data) => createImageBitmap(await (await fetch(data)).blob());
  const [p, q] = await Promise.all([load(left), load(right)]);
  const w = Math.floor(Math.min(p.width, q.width) / 4), h = Math.floor(Math.min(p.height, q.height) / 4);
  const small = (image) => {
    const context = Object.assign(document.createElement('canvas'), { width: w, height: h }).getContext('2d');
    context.imageSmoothingQuality = 'high';
    context.drawImage(image, 0, 0, w, h);
    return context.getImageData(0, 0, w, h).data;
  };
  const [x, y] = [small(p), small(q)];
  let same = 0;
  for (let i = 0; i < x.length; i += 4) if (Math.abs(x[i] - y[i]) + Math.abs(x[i + 1] - y[i + 1]) + Math.abs(x[i + 2] - y[i + 2]) < 60) ++same;
  return (4 * same) / x.length;
}, [a, b].map((path) => `data:image/png;base64,${readFileSync(path).toString('base64')}`));

test('an SVG of the view looks like the view, its text is text', async () => {
  await openPage(page, server.url);
  await dropAndShow(page, [join(models, 'resnet50_train.pb'), join(models, 'resnet50_train_init.pb')]);
  await page.click('.rail [data-tool=export]');
  await page.waitForFunction(() => document.querySelector('.export .hint')?.textContent.includes('pixels'));
  await settle(page);
  const svg = await saved(page, '.export [data-format=svg]'), png = await saved(page, '.export [data-format=png]');
  await shotBoth(page, 'export');
  await page.click('.rail [data-tool=read]');
  const [drawn] = await Promise.all([page.waitForEvent('download'), page.focus('#graph').then(() => page.keyboard.press('Alt+e'))]);
  assert.match(drawn.suggestedFilename(), /\.svg$/, 'Alt+E saves the SVG, whatever is shown beside the graph');
  const text = readFileSync(svg, 'utf8');
  for (const word of ['Conv', 'SpatialBN', 'ConvGradient']) assert.ok(text.includes(`>${word}`), word);
  assert.ok(text.indexOf('>comp_0<') > text.lastIndexOf('class="e"'), 'titles of frames stand over the edges');
  const { w, h } = pictureSize(png);
  const view = await page.evaluate(() => {
    const { view, render } = window.weft, { right, bottom } = render.margin();
    return { w: view.width - right, h: view.height - bottom };
  });
  assert.deepEqual([w, h], [Math.round(view.w * 2), Math.round(view.h * 2)]);
  // The SVG, drawn by the browser, beside the renderer's picture of the same.
  const other = await browser.context.newPage();
  await other.setViewportSize({ width: Math.ceil(view.w), height: Math.ceil(view.h) });
  await other.goto(pathToFileURL(svg).href);
  await other.screenshot({ path: join(folder, 'svg.png') });
  await shot2(other, 'export-svg-view');
  await other.goto('about:blank');
  const half = join(folder, 'half.png');
  writeFileSync(half, await shrink(other, png, Math.ceil(view.w), Math.ceil(view.h)));
  const likeness = await alike(other, join(folder, 'svg.png'), half);
  assert.ok(likeness > 0.93, `alike in ${likeness}`);
  await other.close();
});

test('what stands beside edges is in the pictures, where the page has it', async () => {
  await page.click('.rail [data-tool=shapes]');
  await page.fill('.shapes [aria-label="Shape of data"]', '8,3,224,224');
  await page.waitForFunction(() => window.weft.edgeLabels.length > 5);
  await page.click('.rail [data-tool=export]');
  await settle(page);
  const shown = await page.evaluate(() => {
    const { x, y, scale } = window.weft.view.sight(), size = Math.max(9, Math.min(12, 9.5 * scale));
    return window.weft.edgeLabels.map((label) => [label.text, x + label.x / scale, y + (label.y + size) / scale]);
  });
  const written = (svg) => [...svg.matchAll(/<text x="(\S+)" y="(\S+)" class="l"[^>]*>([^<]*)/g)].map(([, x, y, text]) => [text, Number(x), Number(y)]);
  const inSvg = written(readFileSync(await saved(page, '.export [data-format=svg]'), 'utf8'));
  assert.deepEqual(inSvg.map(([text]) => text), shown.map(([text]) => text));
  for (const [i, [text, x, y]] of shown.entries()) assert.ok(Math.hypot(inSvg[i][1] - x, inSvg[i][2] - y) < 0.02, `${text}: ${inSvg[i]} for ${x} ${y}`);
  // In the PNG there is ink where the first of them stands.
  const png = readFileSync(await saved(page, '.export [data-format=png]')).toString('base64');
  const first = await page.evaluate(() => window.weft.edgeLabels[0]);
  const blank = await browser.context.newPage();
  assert.ok(await blank.evaluate(async ([data, { x, y, w, h }]) => {
    const image = await createImageBitmap(await (await fetch(data)).blob());
    const context = Object.assign(document.createElement('canvas'), { width: 2 * w, height: 2 * h }).getContext('2d');
    context.drawImage(image, -2 * x, -2 * y);
    return context.getImageData(0, 0, 2 * w, 2 * h).data.some((value, i) => i % 4 === 0 && value < 150);
  }, [`data:image/png;base64,${png}`, first]));
  await blank.close();
  // All of a net that is larger than the view, and from afar: as at full size.
  await choose('Everything');
  const all = written(readFileSync(await saved(page, '.export [data-format=svg]'), 'utf8'));
  assert.ok(all.length > 300, `${all.length}`);
  await choose('View');
  await page.click('[aria-label="Fit the whole graph"]');
  await settle(page);
  assert.equal(await page.evaluate(() => window.weft.edgeLabels.length), 0);
  assert.ok(written(readFileSync(await saved(page, '.export [data-format=svg]'), 'utf8')).length > 300);
});

async function shot2(where, name) {
  await where.screenshot({ path: join(shots, `${name}.png`) });
}
const shrink = async (where, path, w, h) => Buffer.from(await where.evaluate(async ([data, width, height]) => {
  const image = await createImageBitmap(await (await fetch(data)).blob());
  const canvas = Object.assign(document.createElement('canvas'), { width, height });
  const context = canvas.getContext('2d');
  context.imageSmoothingQuality = 'high';
  context.drawImage(image, 0, 0, width, height);
  return canvas.toDataURL('image/png').split(',')[1];
}, [`data:image/png;base64,${readFileSync(path).toString('base64')}`, w, h]), 'base64');

test('pictures of the selection and of everything', async () => {
  await choose('Selection');
  assert.ok(await page.locator('.export [data-format=png]').isDisabled());
  await page.evaluate(() => window.weft.app.selectOp(2, { reveal: true }));
  await page.waitForFunction(() => !document.querySelector('.export [data-format=png]').disabled);
  const box = await page.evaluate(() => window.weft.render.opRect(2));
  const few = await saved(page, '.export [data-format=png]');
  assert.deepEqual(pictureSize(few), { w: (box.w + 48) * 2, h: (box.h + 48) * 2 });
  assert.equal((await selection(page)).op, 2);
  await choose('Everything');
  const hint = await page.textContent('.export .hint');
  assert.match(hint, /% of its size, since a picture may have 16,384 pixels a side/);
  const all = pictureSize(await saved(page, '.export [data-format=png]'));
  assert.ok(all.w <= 16_384 && all.h <= 16_384 && all.w * all.h <= 101_000_000, JSON.stringify(all));
  const svg = readFileSync(await saved(page, '.export [data-format=svg]'), 'utf8');
  const boxes = await page.evaluate(() => window.weft.render.counts().nodes);
  assert.ok(svg.split('\n').filter((line) => line.includes('font-size="13"')).length >= boxes * 0.98);
  assert.equal((await parsed(svg)).error, '');
  assert.ok(await inked(page) > 1000, 'the view is there again');
});

test('a picture of everything has room for the headings over lanes of devices', async () => {
  await dropAndShow(page, [join(models, 'resnet50_train_8gpu.pb')]);
  await page.evaluate(() => window.weft.app.change({ horizontal: true }));
  await page.waitForFunction(() => window.weft.render.counts().flags & 1);
  const { h, w } = pictureSize(await saved(page, '.export [data-format=png]'));
  const { bounds, left } = await page.evaluate(() => ({ bounds: window.weft.render.bounds(), left: window.weft.render.headingRoom(0.3).left }));
  const scale = h / 2 / (bounds.h + 48);
  assert.ok(scale < 0.6 && left > 60, `${scale} ${left}`);
  assert.ok(w / 2 >= (bounds.w + 24) * scale + left * 0.95, JSON.stringify([w, h, bounds, left]));
});

test('an SVG has the colours of the boxes', async () => {
  const red = (svg) => (svg.match(/fill="#f[0-9a-f][0-7][0-9a-f][0-7][0-9a-f]"/g) ?? []).length;
  const before = red(readFileSync(await saved(page, '.export [data-format=svg]'), 'utf8'));
  await page.evaluate(() => {
    const { app } = window.weft, [net] = app.path();
    const numbers = new Float64Array(net.numOps).fill(NaN);
    numbers[0] = 0;
    app.tint.show({ title: 'One', numbers, inside: new Map(), words: ['#ff0000'], text: String, net: net.id });
  });
  assert.equal(red(readFileSync(await saved(page, '.export [data-format=svg]'), 'utf8')) - before, 1);
  await page.evaluate(() => window.weft.app.tint.show(null));
  assert.equal(red(readFileSync(await saved(page, '.export [data-format=svg]'), 'utf8')), before);
});

test('names from a file do no harm in an SVG', async () => {
  await openPage(page, server.url);
  await dropAndShow(page, [{ name: 'odd.pbtxt', bytes: Buffer.from('name: "<script>alert(1)</script>" op { type: "Re<lu&" name: "\\"]]>\\001\\377" input: "x" output: "y</text><script>" }') }]);
  await page.click('.rail [data-tool=export]');
  const svg = readFileSync(await saved(page, '.export [data-format=svg]'), 'utf8');
  const read = await parsed(svg);
  assert.equal(read.error, '');
  assert.equal(read.scripts, 0);
  assert.ok(read.text.includes('Re<lu&'));
});

test('the net is saved as the command writes it', async () => {
  await openPage(page, server.url);
  const file = join(models, 'alexnet_train.pb');
  await dropAndShow(page, [file]);
  await page.click('.rail [data-tool=export]');
  for (const ending of ['pb', 'pbtxt', 'dot', 'json']) {
    const native = join(folder, `native.${ending}`);
    execFileSync(weft, ['convert', file, native]);
    assert.deepEqual(readFileSync(await saved(page, `.export [data-format=${ending}]`)), readFileSync(native), ending);
  }
  assert.match(await page.textContent('.export .ascommand code'), /^weft convert alexnet_train\.pb \w+\.json$/);
});

for (const where of ['hosted', 'single file']) {
  test(`a page with the net inside opens offline and shows the same: ${where}`, async () => {
    await openPage(page, where === 'hosted' ? server.url : pathToFileURL(join(built, 'weft.html')).href);
    await dropAndShow(page, [join(models, 'dlrm_26.pb'), join(models, 'dlrm_26_init.pb')]);
    await page.evaluate(async () => {
      await window.weft.app.change({ mode: 1 });
      await window.weft.app.selectOp(7, { reveal: true });
    });
    await settle(page);
    const view = await page.evaluate(() => ({ ...window.weft.view.camera }));
    await page.click('.rail [data-tool=export]');
    const requests = server.requests.length;
    const path = await saved(page, '.export [data-format=html]');
    assert.deepEqual(server.requests.slice(requests), where === 'hosted' ? ['/weft.html'] : []);
    const other = await browser.context.newPage();
    const asked = [], wrong = [];
    other.on('request', (request) => /^(data|blob|file):/.test(request.url()) || asked.push(request.url()));
    other.on('pageerror', (error) => wrong.push(error.message));
    other.on('console', (message) => message.type() === 'error' && wrong.push(message.text()));
    await openPage(other, pathToFileURL(path).href);
    await other.waitForFunction(() => window.weft.app.state.selection?.op === 7, null, { timeout: 60_000 });
    const shown = await other.evaluate(() => ({ camera: window.weft.view.camera, mode: window.weft.app.state.view.mode, documents: window.weft.app.state.documents.map((d) => d.name), ops: window.weft.app.state.view.net.numOps }));
    assert.equal(shown.mode, 1);
    assert.deepEqual(shown.documents, ['dlrm_26.pb', 'dlrm_26_init.pb']);
    assert.ok(Math.abs(shown.camera.x - view.x) < 1 && Math.abs(shown.camera.scale / view.scale - 1) < 0.001, JSON.stringify([shown.camera, view]));
    assert.deepEqual([asked, wrong], [[], []]);
    // What it carries it can carry on.
    await other.click('.rail [data-tool=export]');
    const again = await saved(other, '.export [data-format=html]');
    assert.ok(readFileSync(again, 'utf8').includes('data-net="dlrm_26.pb"'));
    await other.close();
  });
}

test('an address shows the same view again', async (t) => {
  const files = await serve(models);
  t.after(() => files.close());
  const url = `${files.url}dlrm_26.pb`;
  await openPage(page, `${server.url}#url=${encodeURIComponent(url)}`);
  await page.waitForFunction(() => location.hash.includes('&net=') && location.hash.includes('&at='));
  await page.evaluate(async () => {
    const { app, view } = window.weft;
    await app.change({ horizontal: true });
    await app.collapseAll();
    await app.selectBlobNamed(app.state.selection?.details?.name ?? 'loss', undefined, {}).catch(() => app.selectOp(3));
    view.set({ x: 321, y: 123, scale: 0.75 });
  });
  const state = () => page.evaluate(() => {
    const { app, view } = window.weft, { selection } = app.state;
    return { camera: { ...view.camera }, options: { across: app.state.view.options.horizontal, open: [...(app.state.view.options.expanded ?? [])] }, selected: [selection?.what, selection?.op, selection?.details?.name, selection?.value], boxes: window.weft.render.counts() };
  });
  const before = await state();
  await page.waitForFunction(() => location.hash.includes('at=321,123,0.75') && /(op|blob)=/.test(location.hash));
  const address = page.url();
  assert.ok(address.includes(`#url=${encodeURIComponent(url)}&net=`) && address.includes('across=1') && address.includes('open='), address);
  await page.goto('about:blank');
  await openPage(page, address);
  await page.waitForFunction(() => window.weft.app.state.selection !== null);
  assert.deepEqual(await state(), before);
  // Another view of the same net by a changed address: nothing is fetched again.
  const fetched = files.requests.length;
  await page.evaluate(() => (location.hash = location.hash.replace(/&(op|blob)=[^&]*/, '&op=5').replace('across=1', 'across=')));
  await whenSelected(page, 5);
  assert.equal(await page.evaluate(() => window.weft.app.state.view.options.horizontal ?? false), false);
  assert.equal(files.requests.length, fetched);
  // What makes no sense is let be.
  await page.evaluate(() => (location.hash = location.hash.replace(/&net=[^&]*/, '&net=%zz').replace('at=', 'at=NaN,')));
  await settle(page);
  await page.evaluate(() => (location.hash = `#net=${encodeURIComponent(window.weft.app.state.view.net.name)}&in=0.no&op=99999999&open=9.9.4000000&at=1e99,2,3&bands=77`));
  await settle(page);
  assert.equal(await page.locator('.notice').count(), 0);
});
