// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The page: makes the renderer's context and the engine's worker at once, then the bar, the panels and the commands.

import './style.css';
import createRender from '@wasm/render.js';
import { App } from './app.ts';
import { carriesNets, embeddedNets, loadBytes, makeWorker, selfContained } from './assets.ts';
import { problems } from './checked.ts';
import { Command } from './command.ts';
import { Commands } from './commands.ts';
import { Details } from './details.ts';
import { openHelp, openPalette } from './dialogs.ts';
import { bytes as sizeOf, count, digits, h, icon } from './dom.ts';
import { edgeLabels } from './edge_labels.ts';
import { embed } from './embed.ts';
import { Engine, WeftError } from './engine.ts';
import { type Example, rehearsal } from './examples.ts';
import { carriedView } from './carry.ts';
import { acceptDrops, chooseFiles, fetchFile, urlInFragment } from './files.ts';
import { Link } from './link.ts';
import { Listing } from './listing.ts';
import { Outline } from './outline.ts';
import { filesPanel, findingsPanel, foundPanel } from './panels.ts';
import { previewBar } from './preview.ts';
import { Rail } from './rail.ts';
import { Renderer, sceneFlags } from './render.ts';
import { signText } from './signs.ts';
import { startPage } from './start.ts';
import { netTitle } from './state.ts';
import { Timeline } from './timeline.ts';
import { Theme, type ThemeName } from './theme.ts';
import { tools } from './tools/index.ts';
import { View } from './view.ts';

const canvas = h('canvas', { id: 'graph', tabIndex: 0, role: 'img', 'aria-label': 'The graph. Its outline in the side panel says the same in words.' });
const viewElement = h('main.view', canvas);
const theme = new Theme();
const commands = new Commands();

async function begin(): Promise<void> {
  document.body.append(viewElement);
  // All faces now, not when their first letter is set: later the network may be gone.
  for (const font of ['400 12px Inter', '600 12px Inter', '400 12px "JetBrains Mono"']) void document.fonts.load(font);
  const engineBytes = loadBytes('weft.wasm');
  const [worker, renderBytes] = await Promise.all([makeWorker('worker.js'), loadBytes('render.wasm')]);
  const engine = new Engine(worker, engineBytes, (message) => problem({ title: 'The engine stopped', text: `${message}\nReload the page to go on.` }));
  const render = new Renderer(await createRender({ wasmBinary: renderBytes }), '#graph');
  try {
    render.start();
  } catch (error) {
    problem({ title: 'The graph cannot be drawn here', text: `${(error as Error).message}. The text and the outline work all the same.` });
  }
  render.setTheme(theme.rendererColors());
  build(engine, render);
}

let problem: (what: { title: string; text: string } | null) => void = (what) => {
  if (what) viewElement.append(h('div.notice', { role: 'alert' }, h('h2', what.title), h('p', what.text)));
};

function build(engine: Engine, render: Renderer): void {
  const app = new App(engine, render, new Command(() => makeWorker('run_worker.js'), () => loadBytes('run.wasm')));
  const { state } = app;
  const live = h('div.visually-hidden', { 'aria-live': 'polite' });
  app.announce = (text) => (live.textContent = text);
  const tip = h('div.tip.hidden');
  let tipFor = '';
  const view = new View(canvas, render, {
    select: (picked, { extend }) => void (extend ? app.extend(picked) : app.pick(picked)),
    chosen: (x0, y0, x1, y1) => void app.selectOps(render.opsIn(x0, y0, x1, y1)),
    enter: (picked, { all }) => void app.double(picked, all),
    hover: (picked, x, y) => {
      const key = picked ? JSON.stringify(picked) : '';
      if (key !== tipFor) {
        tipFor = key;
        app.hover(picked);
        tip.classList.add('hidden');
        if (picked) void describe(app, picked).then((text) => {
          if (tipFor !== key || !text) return;
          tip.textContent = text;
          tip.classList.remove('hidden');
        });
      }
      tip.style.left = `${Math.min(x + 14, viewElement.clientWidth - 240)}px`;
      tip.style.top = `${y + 18}px`;
    },
    moved: () => {
      tip.classList.add('hidden');
      zoomLabel.textContent = `${Math.round(view_().camera.scale * 100)}%`;
      app.tell('moved');
    },
    resized: (before) => app.resized(before),
  });
  app.on(['scene', 'selection'], () => {
    tip.classList.add('hidden');
    tipFor = '';
  });
  const view_ = () => view;
  const zoomLabel = h('span', '100%');
  app.view = view;
  app.theme = theme;
  const link = (app.link = new Link(app, location.hash || carriedView()));

  // Notices.
  let notice: HTMLElement | null = null;
  problem = (what) => {
    notice?.remove();
    notice = what && h('div.notice', { role: 'alert' }, h('h2', what.title), h('p', what.text),
      h('button.close', { 'aria-label': 'Dismiss', onclick: () => problem(null) }, icon('M4 4l8 8M12 4l-8 8')));
    if (notice) viewElement.append(notice);
  };
  app.onProblem = (what) => problem(what);
  app.showTool = (id) => commands.run(id === 'findings' ? id : 'tool-' + id);
  app.onWithoutNet = () => commands.run('tool-tensors');

  // Opening.
  const open = (files: File[]) => void app.open(files.map((file) => ({ name: file.name, file })));
  const openDialog = () => chooseFiles(open);
  const openExample = (example: Example) => void app.open(example.files.map(({ name, text }) => ({ name, bytes: new TextEncoder().encode(text) })));
  acceptDrops(open);
  const start = startPage(openDialog, openExample);

  // The bar.
  const crumbs = h('nav.crumbs', { 'aria-label': 'Nets' });
  const find = h('input', { type: 'search', placeholder: 'Find operators and blobs', 'aria-label': 'Find', spellcheck: false, autocomplete: 'off' });
  const tally = h('span.tally', { 'aria-live': 'polite' });
  let typing = 0;
  find.addEventListener('input', () => {
    clearTimeout(typing);
    typing = window.setTimeout(() => void app.find(find.value), 90);
  });
  find.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') {
      event.preventDefault();
      clearTimeout(typing);
      const go = () => app.findNext(event.shiftKey ? -1 : 1);
      if (state.found?.query === find.value && !state.found.running) void go();
      else void app.find(find.value).then(go);
    } else if (event.key === 'ArrowDown') {
      event.preventDefault();
      showTab('found');
      void app.findNext(1);
    } else if (event.key === 'Escape') {
      event.stopPropagation();
      find.value = '';
      app.clearFound();
      canvas.focus();
    }
  });
  app.on(['found'], () => {
    const { found } = state;
    find.classList.toggle('bad', !!found?.error);
    find.title = found?.error ?? '';
    if (document.activeElement !== find) find.value = found?.query ?? '';
    tally.textContent = !found ? '' : found.error ? '?' : found.at >= 0 ? `${digits(found.at + 1)} / ${digits(found.ops.length)}` : digits(found.ops.length) + (found.elsewhere.length > 0 ? ` + ${digits(found.elsewhere.reduce((sum, { ops }) => sum + ops.length, 0))}` : '') + (found.running ? '…' : '');
  });
  const tool = (label: string, path: string, onclick: (event: MouseEvent) => void, props: Record<string, unknown> = {}) =>
    h('button.tool', { title: label, 'aria-label': label, onclick, ...props }, icon(path));
  const modes = ([[2, 'Mirror', 'Each gradient in the row of its operator'], [1, 'Flow', 'Plain data flow']] as const).map(([mode, label, title]) =>
    h('button', { title, onclick: () => void (state.view?.mode !== mode && app.change({ mode })) }, label));
  const modeSwitch = h('div.switch', { role: 'group', 'aria-label': 'Layout' }, ...modes);
  const fitTool = tool('Fit the whole graph', 'M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4', () => commands.run('fit'));
  const foldTool = tool('Fold alike devices', 'M8 2v12M1 8h4.5M3.5 6l2 2-2 2M15 8h-4.5M12.5 6l-2 2 2 2', () => commands.run('fold'));
  const bar = h('header.bar',
    h('a.brand', { href: '#', onclick: (e: Event) => { e.preventDefault(); start.classList.toggle('hidden', !!state.view && !start.classList.contains('hidden')); } }, logo(), h('span', 'Weft')),
    crumbs, h('div.spacer'),
    h('div.find', icon('M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.8 10.8L14 14'), find, tally),
    h('div.tools', modeSwitch,
      foldTool,
      fitTool,
      tool('Open files', 'M2 13V3h4l2 2h6v8z', openDialog),
      tool('Theme', 'M8 2a6 6 0 1 0 0 12zM8 2a6 6 0 0 1 0 12', (event) => themeMenu(event.currentTarget as HTMLElement), { 'aria-haspopup': 'menu' }),
      tool('Commands', 'M3 4h10M3 8h10M3 12h6', () => openPalette(commands)),
      tool('Keys', 'M6 6a2 2 0 1 1 2.7 1.9c-.5.2-.7.6-.7 1.1v.6M8 12.3v.1', () => openHelp(commands))));
  app.on(['net', 'files', 'scene'], () => {
    const path = app.path();
    crumbs.replaceChildren(...path.flatMap((net, i) => [
      i > 0 ? h('span.fainter', '›') : null,
      h('button' + (i === path.length - 1 ? '.here' : ''), { onclick: () => (i === path.length - 1 ? netMenu(crumbs) : void app.show(net.id)) },
        i > 0 ? `${net.parentArg}` : netTitle(net, state.documents)),
    ]).filter((n): n is HTMLElement => n !== null), ...(state.nets.filter((n) => n.parent < 0).length > 1 ? [h('button.fainter', { title: 'Other nets', onclick: () => netMenu(crumbs) }, '▾')] : []));
    document.title = path.length > 0 ? `${netTitle(path[0]!, state.documents)} - Weft` : 'Weft';
    modes.forEach((button, i) => button.setAttribute('aria-pressed', String(state.view?.mode === 2 - i)));
  });

  // Side panels.
  const panes: Record<string, { title: string; element: HTMLElement; fills?: boolean }> = {
    text: { title: 'Text', element: new Listing(app).element, fills: true },
    outline: { title: 'Outline', element: new Outline(app).element },
    found: { title: 'Found', element: foundPanel(app), fills: true },
    findings: { title: 'Findings', element: findingsPanel(app) },
    files: { title: 'Files', element: filesPanel(app) },
  };
  const badge: Record<string, HTMLElement> = {};
  const tabs = h('div.tabs', { role: 'tablist' });
  const pane = h('div.pane');
  let shown = '';
  const showTab = (name: string) => {
    shown = name;
    rail.show('read');
    left.classList.remove('hidden');
    for (const button of tabs.querySelectorAll('button')) button.setAttribute('aria-selected', String(button.dataset.tab === name));
    for (const [key, { element }] of Object.entries(panes)) element.classList.toggle('hidden', key !== name);
    dispatchEvent(new Event('resize'));
  };
  for (const [name, { title, element, fills }] of Object.entries(panes)) {
    badge[name] = h('span.badge');
    tabs.append(h('button', { role: 'tab', 'data-tab': name, onclick: () => showTab(name) }, title, badge[name]));
    element.classList.add('tab-' + name);
    if (fills) element.classList.add('fills');
    pane.append(element);
  }
  tabs.addEventListener('keydown', (event) => {
    const names = Object.keys(panes), by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (!by) return;
    event.preventDefault();
    const next = names[(names.indexOf(shown) + by + names.length) % names.length] ?? 'text';
    showTab(next);
    tabs.querySelector<HTMLElement>(`[data-tab=${next}]`)?.focus();
  });
  app.on(['findings', 'net', 'found', 'files'], () => {
    const set = (name: string, n: number) => (badge[name]!.textContent = n > 0 ? digits(n) : '');
    set('findings', problems(state));
    set('found', state.found?.ops.length ?? 0);
    set('files', state.documents.length > 1 ? state.documents.length : 0);
  });
  const reading = h('div.reading', tabs, pane), toolPane = h('div.pane');
  const left = h('aside.side.left', { 'aria-label': 'Text, outline and tools' }, reading, toolPane);
  const rail = new Rail(app, reading, toolPane, (again) => {
    leftWanted = !again || !leftWanted;
    layout();
  });
  const details = new Details(app);
  const right = h('aside.side.right', { 'aria-label': 'Details' }, h('div.pane', details.element));
  left.append(grip(left, '--left', 1));
  right.append(grip(right, '--right', -1));
  showTab('text');

  // Over the graph.
  const legend = h('div.legend', { role: 'group', 'aria-label': 'Bands shown' }, ...(['forward', 'backward', 'update'] as const).map((role, i) =>
    h('button.' + role, { title: `Show or hide: ${role}`, onclick: () => {
      const mask = (state.view?.options.bands ?? 15) ^ (1 << i);
      if (mask & 7) void app.change({ bands: mask });
    } }, h('i'), role)));
  const meter = h('i');
  const workingText = h('span');
  const working = h('div.working.hidden', { role: 'status' }, workingText, h('div.meter', meter), h('button.tool', { onclick: () => app.cancel() }, 'Cancel'));
  app.on(['working'], () => {
    working.classList.toggle('hidden', !state.working);
    workingText.textContent = state.working?.what ?? '';
    meter.style.transform = `scaleX(${state.working?.done ?? 0})`;
  });
  const timeline = new Timeline(app);
  const beside = edgeLabels(app);
  viewElement.append(beside.canvas, timeline.element, app.tint.legend, working, tip, start);

  // The line at the bottom.
  const status = h('footer.status');
  const updateStatus = () => {
    const { view: net, selection } = state;
    const counts = render.counts();
    [...legend.children].forEach((button, i) => button.setAttribute('aria-pressed', String(((net?.options.bands ?? 15) >> i) & 1 ? true : false)));
    const document = state.documents.find((d) => d.id === net?.net.document);
    status.replaceChildren(...(net ? [
      h('span', count(net.net.numOps, 'operator')),
      h('span', counts.nodes < net.net.numOps ? `${digits(counts.nodes)} boxes` : ''),
      h('span.mono', selection?.what === 'op' ? `${selection.details?.type ?? ''} ${app.inPlace.locate(selection.op).op}  ${selection.details?.outputs.map((p) => p.label).join(', ') ?? ''}`
        : selection?.what === 'blob' ? `${selection.details?.name}@${selection.details?.versions.find((v) => v.value === selection.value)?.version ?? 0}`
        : selection?.what === 'ops' ? `${digits(selection.ops.length)} selected`
        : selection?.what === 'scope' ? selection.info?.path ?? '' : ''),
      h('span.spacer'),
      ...(net.mode === 2 ? [legend] : []),
      zoomLabel,
      h('span', document?.name ?? '', ' ', h('span.fainter', sizeOf(document?.bytes ?? 0))),
    ] : [h('span', selfContained() ? 'One file, no network' : 'Nothing is uploaded')]));
  };
  app.on(['net', 'selection', 'scene', 'files'], updateStatus);
  const layout = () => {
    const any = !!state.view, open = state.documents.length > 0;
    rail.element.classList.toggle('hidden', !open);
    left.classList.toggle('hidden', !open || !leftWanted);
    right.classList.toggle('hidden', !any || !rightWanted);
    start.classList.toggle('hidden', any || carried || state.sketched);
    viewElement.classList.toggle('sketched', state.sketched);
    for (const part of [bar.querySelector('.find')!, fitTool]) part.classList.toggle('hidden', !any);
    modeSwitch.hidden = !state.view?.net.hasGradients;
    const { flags } = render.counts();
    foldTool.classList.toggle('hidden', !any || !(flags & sceneFlags.foldable));
    foldTool.setAttribute('aria-pressed', String(!!(flags & sceneFlags.folded)));
  };
  let leftWanted = true, rightWanted = true;
  let carried = carriesNets();  // then the empty page never shows
  app.on(['net', 'scene', 'files'], layout);

  document.body.prepend(bar, rail.element, left);
  const made = previewBar(app);
  document.body.append(made, right, status, live);
  layout();
  updateStatus();
  const recolor = () => {
    render.setTheme(theme.rendererColors(state.faults.length > 0));
    view.invalidate();
  };
  theme.onChange(recolor);
  app.on(['faults'], recolor);

  // Menus.
  function menu(at: HTMLElement, items: { label: string; checked?: boolean; run: () => void }[]): void {
    document.querySelector('.menu')?.remove();
    const box = at.getBoundingClientRect();
    const element = h('div.menu', { role: 'menu' }, ...items.map((item) =>
      h('button', { role: 'menuitemradio', 'aria-checked': item.checked ? 'true' : 'false', onclick: () => { element.remove(); item.run(); } }, item.label)));
    element.style.top = `${box.bottom + 4}px`;
    document.body.append(element);
    element.style.left = `${Math.min(box.left, innerWidth - element.offsetWidth - 8)}px`;
    element.querySelector('button')?.focus();
    const away = (event: Event) => {
      if (event instanceof KeyboardEvent && event.key !== 'Escape') {
        const buttons = [...element.querySelectorAll('button')];
        const to = buttons.indexOf(document.activeElement as HTMLButtonElement) + (event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0);
        buttons[(to + buttons.length) % buttons.length]?.focus();
        return;
      }
      if (event.type === 'pointerdown' && element.contains(event.target as Node)) return;
      element.remove();
      removeEventListener('pointerdown', away, true);
      removeEventListener('keydown', away, true);
    };
    addEventListener('pointerdown', away, true);
    addEventListener('keydown', away, true);
  }
  const themeNames: [ThemeName, string][] = [['system', 'As the system'], ['light', 'Light'], ['dark', 'Dark'], ['contrast', 'High contrast']];
  const themeMenu = (at: HTMLElement) => menu(at, themeNames.map(([name, label]) => ({ label, checked: theme.name === name, run: () => theme.set(name) })));
  const netMenu = (at: HTMLElement) => menu(at, state.nets.filter((n) => n.parent < 0).map((net) => ({
    label: `${netTitle(net, state.documents)}  (${[state.documents.find((d) => d.id === net.document)?.name, digits(net.numOps)].filter(Boolean).join(', ')})`, checked: state.view?.net.id === net.id, run: () => void app.show(net.id) })));

  // Commands.
  const has = () => !!state.view;
  const selected = () => !!state.selection;
  let lastFocus = 0;
  const bands = (mask: number) => void app.change({ bands: mask });
  const showTool = (id: string) => {
    leftWanted = true;
    layout();
    rail.show(id);
  };
  const flip = (name: 'showNames' | 'showArguments' | 'showParams' | 'foldReplicas' | 'horizontal', otherwise: boolean) => void app.change({ [name]: !(state.view?.options[name] ?? otherwise) });
  const copy = (text: string) => void navigator.clipboard?.writeText(text).then(() => app.announce('Copied'), () => {});
  commands.add(
    { id: 'open', group: 'File', name: 'Open files', keys: ['Ctrl+O'], run: openDialog },
    { id: 'leave', group: 'File', name: 'Go to the net around this one', keys: ['Backspace'], when: () => (state.view?.net.parent ?? -1) >= 0, run: () => void app.leave() },
    { id: 'fit', group: 'View', name: 'Fit the whole graph', keys: ['Space', '0', 'Home'], when: has, run: () => view.fit() },
    { id: 'focus', group: 'View', name: 'Go to the selection, again: fit', keys: ['F'], when: has, run: () => {
      const twice = performance.now() - lastFocus < 600;
      lastFocus = performance.now();
      if (twice || !state.selection) view.fit();
      else void app.revealFully();
    } },
    { id: 'actual', group: 'View', name: 'Zoom to 100 %', keys: ['Shift+Backspace'], when: has, run: () => view.zoomTo(1) },
    { id: 'in', group: 'View', name: 'Zoom in', keys: ['+', '='], when: has, run: () => view.zoom(1.25) },
    { id: 'out', group: 'View', name: 'Zoom out', keys: ['-'], when: has, run: () => view.zoom(0.8) },
    { id: 'forward', group: 'View', name: 'Show forward only', keys: ['1'], when: () => state.view?.mode === 2, run: () => bands(1) },
    { id: 'backward', group: 'View', name: 'Show backward only', keys: ['2'], when: () => state.view?.mode === 2, run: () => bands(2) },
    { id: 'both', group: 'View', name: 'Show all of training', keys: ['3'], when: () => state.view?.mode === 2, run: () => bands(15) },
    { id: 'mode', group: 'View', name: 'Switch between mirror and flow', keys: ['M'], when: () => !!state.view?.net.hasGradients, run: () => void app.change({ mode: state.view?.mode === 2 ? 1 : 2 }) },
    { id: 'direction', group: 'View', name: 'Turn the direction of flow', keys: ['K'], when: has, run: () => flip('horizontal', false) },
    { id: 'arguments', group: 'View', name: 'Show or hide arguments in the boxes', keys: ['D'], when: has, run: () => flip('showArguments', false) },
    { id: 'names', group: 'View', name: 'Show or hide names in the boxes', keys: ['U'], when: has, run: () => flip('showNames', true) },
    { id: 'params', group: 'View', name: 'Show or hide parameters', keys: ['I'], when: has, run: () => flip('showParams', true) },
    { id: 'fold', group: 'View', name: 'Fold or unfold alike devices', keys: ['R'], when: has, run: () => flip('foldReplicas', true) },
    { id: 'toggle', group: 'View', name: 'Expand or collapse the scope, or the nets in an operator', keys: ['X'], when: selected, run: () => {
      if (state.selection?.what === 'op' && state.selection.details?.args.some((arg) => arg.nets.length > 0)) return void app.inPlace.toggle(state.selection.op);
      const scope = state.selection?.what === 'scope' ? state.selection.scope : state.selection?.what === 'op' ? state.selection.details?.scopes.at(-1) : undefined;
      if (scope !== undefined) void app.toggleScope(scope);
    } },
    { id: 'expandAll', group: 'View', name: 'Expand everything', keys: ['Shift+X'], when: has, run: () => void app.expandAll() },
    { id: 'collapseAll', group: 'View', name: 'Collapse everything', keys: ['Alt+X'], when: has, run: () => void app.collapseAll() },
    { id: 'group', group: 'View', name: 'Collapse the selected operators into one box', keys: ['Ctrl+G'], when: selected, run: () => void app.group() },
    { id: 'ungroup', group: 'View', name: 'Dissolve the box made of a selection', keys: ['Ctrl+Shift+G'], when: () => state.selection?.what === 'scope' && !!state.selection.info?.user, run: () => void app.ungroup() },
    { id: 'timeline', group: 'View', name: 'Show or hide the timeline', keys: ['L'], when: has, run: () => timeline.toggle() },
    { id: 'find', group: 'Find', name: 'Find', keys: ['Ctrl+F', '/'], when: has, run: () => { find.focus(); find.select(); } },
    { id: 'findNext', group: 'Find', name: 'Next match', keys: ['N', 'F3'], when: () => !!state.found, run: () => void app.findNext(1) },
    { id: 'findPrevious', group: 'Find', name: 'Previous match', keys: ['Shift+N', 'Shift+F3'], when: () => !!state.found, run: () => void app.findNext(-1) },
    { id: 'up', group: 'Walk', name: 'To the producer', keys: ['ArrowUp'], when: has, run: () => void app.walk(0) },
    { id: 'down', group: 'Walk', name: 'To the first consumer', keys: ['ArrowDown'], when: has, run: () => void app.walk(1) },
    { id: 'left', group: 'Walk', name: 'To the left', keys: ['ArrowLeft'], when: has, run: () => void app.walk(2) },
    { id: 'right', group: 'Walk', name: 'To the right', keys: ['ArrowRight'], when: has, run: () => void app.walk(3) },
    { id: 'next', group: 'Walk', name: 'Next operator of the net', keys: ['.'], when: has, run: () => void app.step(1) },
    { id: 'previous', group: 'Walk', name: 'Previous operator of the net', keys: [','], when: has, run: () => void app.step(-1) },
    { id: 'olderVersion', group: 'Walk', name: 'Previous version of the blob', keys: ['['], when: selected, run: () => void app.stepVersion(-1) },
    { id: 'newerVersion', group: 'Walk', name: 'Next version of the blob', keys: [']'], when: selected, run: () => void app.stepVersion(1) },
    { id: 'gradient', group: 'Walk', name: 'Between an operator and its gradient', keys: ['G'], when: selected, run: () => void app.jumpGradient() },
    { id: 'enter', group: 'Walk', name: 'Enter the nested net, or read the details', keys: ['Enter'], when: selected, run: () => {
      if (state.selection?.what === 'scope') void app.toggleScope(state.selection.scope);
      else if (state.selection?.what === 'op') void app.enter(state.selection.op).then((entered) => { if (!entered) details.element.focus(); });
    } },
    { id: 'copy', group: 'Edit', name: 'Copy the selected name', keys: ['Ctrl+C'], when: () => selected() && !getSelection()?.toString(), run: () => copy(nameOf(app)) },
    { id: 'copyVersion', group: 'Edit', name: 'Copy blob@version', keys: ['Alt+C'], when: selected, run: () => copy(nameOf(app, true)) },
    { id: 'copyText', group: 'Edit', name: 'Copy the operator as protobuf text', keys: ['Ctrl+Shift+C'], when: () => app.selectedOps().length > 0, run: () => void app.textOf().then(copy) },
    { id: 'save', group: 'Edit', name: 'Save the net that a command made', keys: ['Ctrl+S'], when: () => !made.classList.contains('hidden'), run: () => made.querySelector<HTMLElement>('.save')?.click() },
    { id: 'clear', group: 'Edit', name: 'Clear the selection', keys: ['Escape'], run: () => { problem(null); if (state.working) app.cancel(); else if (state.selection) app.select(null); else if (state.found) app.clearFound(); else app.clearFaults(); } },
    { id: 'text', group: 'Panels', name: 'Show the text', keys: ['T'], when: has, run: () => { leftWanted = true; layout(); showTab('text'); } },
    { id: 'outline', group: 'Panels', name: 'Show the outline', keys: ['O'], when: has, run: () => { leftWanted = true; layout(); showTab('outline'); panes.outline!.element.querySelector<HTMLElement>('[tabindex="0"]')?.focus(); } },
    { id: 'findings', group: 'Panels', name: 'Show the findings', keys: ['W'], when: has, run: () => { leftWanted = true; layout(); showTab('findings'); } },
    { id: 'files', group: 'Panels', name: 'Show the files', when: has, run: () => { leftWanted = true; layout(); showTab('files'); } },
    ...tools.map((tool) => ({ id: 'tool-' + tool.id, group: 'Tools', name: `${tool.title}: ${tool.what[0]?.toLowerCase()}${tool.what.slice(1)}`, when: () => state.documents.length > 0, ...(tool.id === 'shapes' ? { keys: ['4'] } : {}), run: () => showTool(tool.id) })),
    ...(['png', 'svg'] as const).map((format) => ({ id: format, group: 'Export', name: `Save what is shown as ${format.toUpperCase()}`, keys: [format === 'png' ? 'Shift+E' : 'Alt+E'], when: has, run: () => {
      showTool('export');
      toolPane.querySelector<HTMLElement>(`[data-format=${format}]`)?.click();
    } })),
    { id: 'leftPanel', group: 'Panels', name: 'Show or hide the left panel', keys: ['Ctrl+B'], when: has, run: () => { leftWanted = !leftWanted; layout(); } },
    { id: 'rightPanel', group: 'Panels', name: 'Show or hide the details', keys: ['Ctrl+I'], when: has, run: () => { rightWanted = !rightWanted; layout(); } },
    { id: 'wheel', group: 'Page', name: 'Let the wheel scroll or zoom', run: () => (view.wheelZooms = !view.wheelZooms) },
    ...themeNames.map(([name, label]) => ({ id: 'theme-' + name, group: 'Page', name: `Use the theme: ${label.toLowerCase()}`, run: () => theme.set(name) })),
    { id: 'palette', group: 'Page', name: 'Choose a command', keys: ['Ctrl+Shift+P'], run: () => openPalette(commands) },
    { id: 'help', group: 'Page', name: 'Show the keys', keys: ['?'], run: () => openHelp(commands) },
  );
  for (const [button, id] of [[foldTool, 'fold'], [fitTool, 'fit']] as const) button.title += ` (${commands.keyOf(id)})`;
  addEventListener('unhandledrejection', (event) => {
    if (!(event.reason instanceof WeftError)) return;
    event.preventDefault();
    if (!event.reason.cancelled) problem({ title: 'That did not work', text: event.reason.message });
  });
  addEventListener('keydown', (event) => {
    if (!document.querySelector('dialog[open], .menu')) commands.press(event);
  });

  // What the address or the file asks for.
  const openUrl = () => {
    const url = urlInFragment();
    if (!url) return;
    if (selfContained()) return problem({ title: 'This page may not fetch', text: 'The single file never asks the network for anything. Drop the net instead.' });
    void fetchFile(url).then((file) => app.open([file])).then(() => link.cameFrom(url)).catch((error) => problem({ title: `${url} could not be fetched`, text: `${error instanceof Error ? error.message : error}. The server must allow other pages to read it (CORS).` }));
  };
  addEventListener('hashchange', () => link.turnTo(location.hash, openUrl));
  embed(app);
  if (carried) {
    void embeddedNets().then((nets) => app.open(nets)).catch((error) => problem({ title: 'The net inside this page could not be read', text: String(error) })).finally(() => {
      carried = false;
      layout();
    });
  } else {
    openUrl();
    requestIdleCallback(() => void engine.warm(rehearsal()), { timeout: 1000 });
  }
  requestIdleCallback(() => render.rehearse(), { timeout: 500 });
  Object.assign(window, { weft: { app, view, theme, commands, render, rail, edgeLabels: beside.labels } });
}

function nameOf(app: App, version = false): string {
  const { selection } = app.state;
  if (selection?.what === 'op') return version ? selection.details?.outputs.map((p) => p.label).join(' ') ?? '' : selection.details?.name || selection.details?.type || '';
  if (selection?.what === 'blob') {
    const at = selection.details?.versions.find((v) => v.value === selection.value)?.version ?? 0;
    return (selection.details?.name ?? '') + (version ? `@${at}` : '');
  }
  if (selection?.what === 'ops') return [...selection.ops].map((op) => app.nameOf(op) || app.typeOf(op)).join('\n');
  return selection?.what === 'scope' ? selection.info?.path ?? '' : '';
}

const note = (text: string): string => text && `  ${text}`;
/** One line about what is under the pointer: the whole of what its box may have had to cut. */
async function describe(app: App, picked: import('./render.ts').Picked): Promise<string> {
  const net = app.state.view?.net.id ?? -1;
  try {
    if (picked.what === 'op' || picked.what === 'bundle') {
      const op = await app.inPlace.describeOp(picked.op);
      return `${op.type} ${app.inPlace.locate(op.op).op}${op.name ? '  ' + op.name : ''}  →  ${op.outputs.slice(0, 4).map((p) => p.label).join(', ')}${op.outputs.length > 4 ? ', …' : ''}${note(app.measures.text(op.outputs[0]?.value ?? -1))}${note(app.tint.text(picked.op))}${signText(picked.flags)}`;
    }
    if (picked.what === 'value') {
      const blob = await app.inPlace.describeValue(picked.value);
      const version = blob.versions.find((v) => v.value === picked.value);
      return `${blob.name}@${version?.version ?? 0}${picked.count > 1 ? ` and ${picked.count - 1} more` : ''}${note(app.measures.text(picked.value))}  read ${count(version?.numReaders ?? 0, 'time')}`;
    }
    const scope = await app.engine.ask('describeScope', net, app.state.view?.mode ?? 1, picked.scope);
    return picked.what === 'scope' ? `${scope.path || scope.label}  ${count(scope.numOps, 'operator')}${signText(picked.flags)}` : '';
  } catch {
    return '';
  }
}

/** A line that is dragged to change a panel's width. */
function grip(panel: HTMLElement, variable: string, sign: number): HTMLElement {
  const element = h('div.grip', { role: 'separator', 'aria-orientation': 'vertical' });
  element.addEventListener('pointerdown', (event) => {
    event.preventDefault();
    element.setPointerCapture(event.pointerId);
    const from = event.clientX, width = panel.offsetWidth;
    const move = (e: PointerEvent) => panel.style.setProperty(variable, `${Math.max(220, Math.min(width + sign * (e.clientX - from), innerWidth * 0.6))}px`);
    element.addEventListener('pointermove', move);
    element.addEventListener('pointerup', () => element.removeEventListener('pointermove', move), { once: true });
  });
  return element;
}

/** Two threads over and under two others. */
function logo(): SVGSVGElement {
  const svg = icon('M5 1v5M5 10v5M11 1v1.5M11 6.5V15M1 5h1.5M6.5 5H15M1 11h5M10 11h5');
  return svg;
}

void begin();
