// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Moving about: pan, zoom, fit, minimap, scopes, modes, keys.

import { test } from 'node:test';
import { join } from 'node:path';
import { assert, dropAndShow, models, openPage, opPoint, press, selection, settle, shot, shotBoth, whenSelected, withBrowser } from './support.mjs';

let server, page;
withBrowser(async (made) => {
  ({ server, page } = made);
  await openPage(page, server.url);
  await dropAndShow(page, [join(models, 'resnet50_train_2gpu.pb'), join(models, 'resnet50_train_2gpu_init.pb')]);
});

const camera = () => page.evaluate(() => ({ ...window.weft.view.camera }));
const middle = () => page.evaluate(() => {
  const box = window.weft.view.canvas.getBoundingClientRect();
  return { x: box.left + box.width / 2, y: box.top + box.height / 2 };
});
const counts = () => page.evaluate(() => window.weft.render.counts());
const idle = async (act) => {
  const before = await page.evaluate(() => window.weft.view.frame.count);
  await act();
  await page.waitForFunction((n) => window.weft.view.frame.count > n && !window.weft.app.state.working, before);
  await settle(page);
};

test('the wheel scrolls, ctrl and wheel zooms at the pointer', async () => {
  const at = await middle();
  await page.mouse.move(at.x + 100, at.y - 50);
  const c0 = await camera();
  await page.mouse.wheel(0, 120);
  await settle(page);
  const c1 = await camera();
  assert.ok(c1.y > c0.y && c1.scale === c0.scale);
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -240);
  await page.keyboard.up('Control');
  await settle(page);
  const c2 = await camera();
  assert.ok(c2.scale > c1.scale);
  const under = (c) => ({ x: c.x + 100 / c.scale, y: c.y - 50 / c.scale });
  assert.ok(Math.abs(under(c1).x - under(c2).x) < 0.01 && Math.abs(under(c1).y - under(c2).y) < 0.01, 'the world under the pointer stays');
});

test('dragging moves the view with the pointer', async () => {
  const at = await middle();
  const c0 = await camera();
  await page.mouse.move(at.x, at.y);
  await page.mouse.down();
  await page.mouse.move(at.x - 80, at.y - 60, { steps: 4 });
  await page.mouse.up();
  const c1 = await camera();
  assert.ok(Math.abs((c1.x - c0.x) * c0.scale - 80) < 1 && Math.abs((c1.y - c0.y) * c0.scale - 60) < 1);
});

test('ctrl and drag zooms to a rectangle', async () => {
  const at = await middle();
  const c0 = await camera();
  await page.keyboard.down('Control');
  await page.mouse.move(at.x - 60, at.y - 40);
  await page.mouse.down();
  await page.mouse.move(at.x + 60, at.y + 40, { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up('Control');
  await settle(page);
  const c1 = await camera();
  assert.ok(c1.scale > c0.scale * 2);
});

test('space fits the whole graph', async () => {
  await page.focus('#graph');
  await press(page, 'Space');
  await settle(page);
  const seen = await page.evaluate(() => {
    const { view, render } = window.weft;
    const b = render.bounds();
    const p = view.toScreen(b.x, b.y), q = view.toScreen(b.x + b.w, b.y + b.h);
    return p.x >= 0 && p.y >= 0 && q.x <= view.width && q.y <= view.height;
  });
  assert.ok(seen);
  await shotBoth(page, 'resnet50_2gpu-fit');
});

test('the minimap moves the view', async () => {
  const map = await page.evaluate(() => {
    const [x, y, w, h] = window.weft.render.numbers(window.weft.render.module._weftRect(2, 0), 4);
    const box = window.weft.view.canvas.getBoundingClientRect();
    return { x: box.left + x, y: box.top + y, w, h };
  });
  assert.ok(map.w > 40 && map.h > 40);
  await page.evaluate(() => window.weft.view.zoomTo(1));
  await settle(page);
  await page.mouse.click(map.x + map.w / 2, map.y + map.h * 0.25);
  const high = await camera();
  await page.mouse.click(map.x + map.w / 2, map.y + map.h * 0.75);
  const low = await camera();
  const bounds = await page.evaluate(() => window.weft.render.bounds());
  assert.ok(Math.abs(high.y - (bounds.y + bounds.h * 0.25)) < bounds.h * 0.05);
  assert.ok(Math.abs(low.y - (bounds.y + bounds.h * 0.75)) < bounds.h * 0.05);
});

test('a double click collapses and expands a scope, which stays where it is', async () => {
  const scope = await page.evaluate(async () => {
    const { app } = window.weft;
    return [...app.state.view.expanded].find((id) => window.weft.render.scopeRect(id)) ?? -1;
  });
  assert.ok(scope > 0, 'a scope is expanded to begin with');
  const before = await counts();
  const place = () => page.evaluate((id) => {
    const r = window.weft.render.scopeRect(id);
    return window.weft.view.toScreen(r.x, r.y);
  }, scope);
  const p0 = await place();
  await idle(() => page.evaluate((id) => window.weft.app.toggleScope(id), scope));
  const p1 = await place();
  const collapsed = await counts();
  assert.ok(collapsed.nodes < before.nodes, `${collapsed.nodes} < ${before.nodes}`);
  assert.ok(Math.hypot(p1.x - p0.x, p1.y - p0.y) < 2, 'it stays in place');
  // Now with the pointer.
  await page.evaluate((id) => window.weft.view.reveal(window.weft.render.scopeRect(id)), scope);
  await settle(page);
  const at = await page.evaluate((id) => {
    const r = window.weft.render.scopeRect(id), box = window.weft.view.canvas.getBoundingClientRect();
    const p = window.weft.view.toScreen(r.x + Math.min(30, r.w / 2), r.y + Math.min(12, r.h / 2));
    return { x: box.left + p.x, y: box.top + p.y };
  }, scope);
  await page.mouse.dblclick(at.x, at.y);
  await page.waitForFunction((nodes) => window.weft.render.counts().nodes === nodes, before.nodes);
  await settle(page);
});

test('everything expands and collapses', async () => {
  await idle(() => page.evaluate(() => window.weft.app.collapseAll()));
  const few = await counts();
  await shotBoth(page, 'resnet50_2gpu-collapsed');
  await idle(() => page.evaluate(() => window.weft.app.expandAll()));
  const all = await counts();
  assert.ok(few.nodes < 200 && all.nodes > few.nodes * 3, `${few.nodes}, ${all.nodes}`);
  await shot(page, 'resnet50_2gpu-expanded');
});

test('1, 2, 3 choose the bands, M the layout, K the direction', async () => {
  await page.focus('#graph');
  const all = await counts();
  assert.equal(all.mode, 2);
  await idle(() => press(page, '1'));
  const forward = await counts();
  assert.ok(forward.nodes < all.nodes);
  await shot(page, 'resnet50_2gpu-forward');
  await idle(() => press(page, '2'));
  assert.notEqual((await counts()).nodes, forward.nodes);
  await idle(() => press(page, '3'));
  assert.equal((await counts()).nodes, all.nodes);
  await idle(() => press(page, 'm'));
  assert.equal((await counts()).mode, 1);
  await shotBoth(page, 'resnet50_2gpu-flow');
  await idle(() => press(page, 'k'));
  assert.equal((await counts()).flags & 1, 1);
  await shot(page, 'resnet50_2gpu-horizontal');
  await idle(() => press(page, 'k'));
  await idle(() => press(page, 'm'));
  assert.equal((await counts()).mode, 2);
});

test('4 shows shapes and memory', async () => {
  await page.focus('#graph');
  await press(page, '4');
  await page.waitForSelector('.rail [data-tool=shapes][aria-pressed=true]');
  await page.click('.rail [data-tool=read]');
});

test('D shows the arguments in the boxes, U hides the names', async () => {
  await page.focus('#graph');
  const before = await counts();
  await idle(() => press(page, 'd'));
  const { chips } = await counts();
  assert.ok(chips > before.chips + 100, `${before.chips}, ${chips}`);
  await shotBoth(page, 'resnet50_2gpu-arguments');
  const bottom = () => page.evaluate(() => window.weft.render.bounds().h);
  const tall = await bottom();
  await idle(() => press(page, 'u'));
  assert.ok((await bottom()) < tall, 'boxes without names are lower');
  await idle(() => press(page, 'u'));
  await idle(() => press(page, 'd'));
  assert.deepEqual(await counts(), before);
});

test('arrows walk along the data, G between an op and its gradient', async () => {
  const conv = await page.evaluate(async () => {
    const { engine, state } = window.weft.app;
    const job = await engine.search(state.view.net.id, 'type:Conv').result;
    return job.ops[1];
  });
  await page.evaluate((op) => window.weft.app.selectOp(op, { reveal: true }), conv);
  await page.focus('#graph');
  await press(page, 'g');
  await page.waitForFunction(() => /Gradient$/.test(window.weft.app.state.selection?.details?.type ?? ''));
  assert.equal((await selection(page)).type, 'ConvGradient');
  await press(page, 'g');
  await whenSelected(page, conv);
  await press(page, 'ArrowDown');
  await page.waitForFunction((op) => window.weft.app.state.selection?.op !== op, conv);
  const down = await selection(page);
  await press(page, 'ArrowUp');
  await page.waitForFunction((op) => window.weft.app.state.selection?.op !== op, down.op);
  assert.equal((await selection(page)).op, conv);
  await press(page, '.');
  await whenSelected(page, conv + 1);
  await press(page, ',');
  await whenSelected(page, conv);
  await shotBoth(page, 'resnet50_2gpu-selected');
});

test('what is seen stays where it is while panels come and go, and when another net showed between', async () => {
  await page.evaluate(() => window.weft.view.zoomTo(1));
  await settle(page);
  const op = (await selection(page)).op, before = await opPoint(page, op);
  const stays = async (what) => {
    await settle(page);
    const now = await opPoint(page, op);
    assert.ok(Math.hypot(now.x - before.x, now.y - before.y) < 1.5, `${what}: ${JSON.stringify([before, now])}`);
  };
  for (const key of ['Control+i', 'Control+b', 'Control+i', 'Control+b']) {
    await press(page, key);
    await stays(key);
  }
  await page.click('.rail [data-tool=overlay]');
  await stays('another tool');
  await page.evaluate(() => document.querySelector('.side.left').style.setProperty('--left', '260px'));
  await stays('a narrower panel');
  await page.evaluate(() => document.querySelector('.side.left').style.removeProperty('--left'));
  // A preview comes with a bar over the graph, and goes.
  await page.evaluate(async () => {
    const { app } = window.weft, net = app.state.view.net.id;
    await app.workshop.showPreview('The same', { name: 'same.pbtxt', bytes: new TextEncoder().encode('name: "same" op { type: "Relu" input: "x" output: "y" }') }, ['print']);
    await app.show(net);
  });
  await page.waitForSelector('.previewbar:not(.hidden)');
  await stays('before, with the bar');
  await page.evaluate(() => window.weft.app.workshop.endPreview(false));
  await page.waitForFunction(() => !window.weft.app.state.preview && window.weft.app.state.documents.every((d) => d.name !== 'same.pbtxt'));
  await stays('after it');
  await page.evaluate((id) => window.weft.app.selectOp(id), op);
});

test('a selected box that a panel would cover moves by the least that shows it', async () => {
  const op = (await selection(page)).op;
  await press(page, 'Control+i');
  await settle(page);
  // At the right end of the view, halfway up.
  await page.evaluate((id) => {
    const { render, view } = window.weft, rect = render.opRect(id), { w, scale } = view.sight();
    view.set({ ...view.camera, x: rect.x + rect.w + 30 / scale - w / 2 / scale, y: rect.y });
  }, op);
  await settle(page);
  const before = await opPoint(page, op);
  await press(page, 'Control+i');
  await settle(page);
  const now = await opPoint(page, op);
  const room = await page.evaluate((id) => {
    const { render, view } = window.weft, rect = render.opRect(id);
    return view.sight().w - view.toScreen(rect.x + rect.w, 0).x;
  }, op);
  assert.ok(Math.abs(room - 8) < 1.5, `${room} pixels beside the box`);
  assert.ok(now.x < before.x - 100 && Math.abs(now.y - before.y) < 1.5, JSON.stringify([before, now]));
});

test('a click on a box selects it, a click beside it clears', async () => {
  const op = (await selection(page)).op;
  await page.evaluate(() => window.weft.app.select(null));
  const at = await opPoint(page, op);
  await page.mouse.click(at.x, at.y);
  await whenSelected(page, op);
  await press(page, 'Escape');
  assert.equal(await selection(page), null);
});
