// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the page does: opening, showing, selecting, finding. It asks the engine, keeps the state, tells the panels what
// changed. It makes no DOM.

import type { Direction, LayoutMode, NetInfo, ViewOptions } from '../../wasm/weft.d.ts';
import type { Command } from './command.ts';
import { Engine, type Task, WeftError } from './engine.ts';
import type { Incoming } from './files.ts';
import { search, searchElsewhere } from './finder.ts';
import { InPlace } from './in_place.ts';
import { Labels } from './labels.ts';
import { Measures } from './measures.ts';
import { Opening } from './opening.ts';
import { type Picked, type Rectangle, type Renderer, type Sight, sceneFlags } from './render.ts';
import { type Found, type NetView, type Problem, type Selection, type State, type Timing, emptyState, netTitle } from './state.ts';
import type { Theme } from './theme.ts';
import { Tint } from './tint.ts';
import type { View } from './view.ts';
import { Workshop } from './workshop.ts';

export type Topic = 'files' | 'net' | 'scene' | 'selection' | 'found' | 'faults' | 'working' | 'findings' | 'preview' | 'measures' | 'tint' | 'time' | 'moved';

const MAX_COPIED = 1000; // operators that are copied as text at once
const MAX_MARKED = 5000; // neighbours that are marked around a selection
const ONE_BY_ONE: Problem = { title: 'Operators inside a box are selected one by one', text: 'Several of them are chosen, and collapsed into one box, where their net shows alone: Alt + double click enters it.' };

export class App {
  readonly state: State = emptyState();
  readonly engine: Engine;
  readonly render: Renderer;
  readonly workshop: Workshop;
  readonly measures: Measures;
  readonly tint: Tint;
  readonly inPlace: InPlace;
  view!: View;
  /** The view as an address. */
  link!: { fragment(): string };
  theme!: Theme;
  /** Of the last net shown: what tests and benches read. */
  timing: Timing = { opened: 0, engineOpen: 0, engineScene: 0, firstFrame: 0 };
  onProblem: (problem: Problem | null) => void = () => {};
  onWithoutNet: () => void = () => {}; // files were opened that hold no net
  announce: (text: string) => void = () => {};
  showTool: (id: string) => void = () => {};
  private readonly views = new Map<number, NetView>();
  private readonly listeners = new Map<Topic, (() => void)[]>();
  private readonly labels = new Labels(this);
  private readonly opening = new Opening(this);
  private sceneTask: Task<Uint32Array> | null = null;
  private searchTask: Task<unknown> | null = null;
  private turns: Promise<void> = Promise.resolve();
  private selecting = 0;

  constructor(engine: Engine, render: Renderer, command: Command) {
    this.engine = engine;
    this.render = render;
    this.workshop = new Workshop(this, command);
    this.measures = new Measures(this);
    this.tint = new Tint(this);
    this.inPlace = new InPlace(this);
  }

  on(topics: Topic[], listener: () => void): void {
    for (const topic of topics) this.listeners.set(topic, [...(this.listeners.get(topic) ?? []), listener]);
  }
  tell(...topics: Topic[]): void {
    const called = new Set<() => void>();
    for (const topic of topics) for (const listener of this.listeners.get(topic) ?? []) called.add(listener);
    for (const listener of called) listener();
  }

  // Opening.

  open(files: Incoming[]): Promise<void> {
    return this.opening.open(files);
  }

  async refresh(): Promise<void> {
    const [documents, nets, pairs] = await Promise.all([this.engine.ask('documents'), this.engine.ask('nets'), this.engine.ask('pairs')]);
    Object.assign(this.state, { documents, nets, pairs });
    this.tell('files');
  }

  async close(document: number): Promise<void> {
    await this.engine.ask('close', document);
    this.workshop.forget(document);
    const gone = this.state.view?.net.document === document;
    await this.refresh();
    if (!gone) return;
    this.state.view = null;
    this.state.selection = null;
    this.state.found = null;
    const next = this.state.nets[0];
    if (next) await this.show(next.id);
    else this.tell('net', 'selection', 'found', 'scene');
  }

  // Showing.

  /** `likeNow`: with the camera and the selection of the net that shows, for one that is nearly the same. `as`: in this
   *  way, instead of the one in which it was left. */
  async show(id: number, { likeNow = false, as }: { likeNow?: boolean; as?: Pick<NetView, 'options' | 'camera'> } = {}): Promise<void> {
    const { state } = this;
    if (state.view) state.view.camera = this.view.stand();
    const before = likeNow ? { camera: state.view?.camera ?? null, selection: state.selection } : null;
    let next = this.views.get(id);
    if (!next) {
      if (!state.nets.some((n) => n.id === id)) await this.refresh();
      const net = state.nets.find((n) => n.id === id) ?? (await this.engine.ask('describeNet', id));
      next = { net, options: {}, mode: net.hasGradients ? 2 : 1, expanded: new Set(), inside: [], groups: 0, camera: before?.camera ?? null, lines: 0, findings: [] };
      this.views.set(id, next);
    }
    if (as) Object.assign(next, as, { expanded: new Set(as.options.expanded) });
    this.clearFound();
    this.clearFaults();
    await this.build(next, { fresh: state.view !== next || !!as });
    if (as?.camera) this.view.take(as.camera);
    const { selection } = before ?? {};
    if (selection?.what === 'op' && selection.op < next.net.numOps) await this.selectOp(selection.op);
    if (selection?.what === 'blob' && selection.details) await this.selectBlobNamed(selection.details.name).catch(() => {});
  }

  /** Changes how the current net is looked at. Changes of the layout's kind start from the default expansion again. */
  async change(options: ViewOptions): Promise<void> {
    const { view } = this.state;
    if (!view) return;
    const again = options.mode !== undefined && options.mode !== view.options.mode;
    const before = view.options;
    view.options = { ...view.options, ...options };
    if (again || options.expandAll) delete view.options.expanded;
    if (!(await this.build(view, { fresh: again || options.horizontal !== undefined || options.bands !== undefined }))) view.options = before;
  }

  private async build(view: NetView, how: { fresh?: boolean; refit?: boolean; anchor?: Anchor | null } = {}): Promise<boolean> {
    this.sceneTask?.cancel();
    const asked = Date.now();
    const task = this.engine.scene(view.net.id, view.options, (p) => {
      // What is quick needs no bar; what is slow gets one that can be cancelled.
      if (Date.now() - asked > 250) this.working(`Laying out ${netTitle(view.net, this.state.documents)}`, p.total ? p.done / p.total : 0, () => task.cancel());
    });
    this.sceneTask = task;
    let words: Uint32Array;
    let inside: NetView['inside'] = [];
    try {
      words = await task.result;
      if (view.options.opened?.length) inside = await this.engine.ask('netsOfScene', view.net.id, view.options.opened);
      if (inside.length === 1) inside = []; // the net alone
    } catch (error) {
      if (this.sceneTask === task) this.working(null);
      if (error instanceof WeftError && error.cancelled) return false;
      this.onProblem({ title: 'This net cannot be laid out', text: (error as Error).message });
      return false;
    }
    if (this.sceneTask !== task) return false;
    this.sceneTask = null;
    this.working(null);
    this.timing.engineScene = this.engine.spent.scene ?? 0;
    const { state } = this;
    const other = state.view !== view;
    state.view = view;
    state.sketched = false;
    view.inside = inside;
    if (other) state.selection = null;
    if (!this.render.setScene(words)) {
      this.onProblem({ title: 'This net cannot be drawn', text: 'The scene is not what the renderer expects.' });
      return false;
    }
    view.mode = this.render.counts().mode as LayoutMode;
    if (!other) this.render.mark('match', { ops: this.inPlace.matches() });
    if (other) this.tell('net'); // panels come first: they decide how wide the view is
    if (view.camera && other) this.view.take(view.camera);
    else if (how.fresh || other) this.view.open();
    else if (how.refit) this.view.fit();
    else if (how.anchor) this.keep(how.anchor);
    this.mark();
    this.view.onFrame(() => {
      this.timing.firstFrame ||= performance.now();
    });
    this.tell('scene', ...(other ? (['selection'] as const) : []));
    if (!view.options.expanded) void this.learnExpanded(view);
    if (other) void this.learn(view);
    return true;
  }

  private async learnExpanded(view: NetView): Promise<void> {
    if (view.options.expandAll) return;
    view.expanded = new Set(await this.engine.ask('defaultExpanded', view.net.id, view.mode, view.options.budget ?? 2000));
    this.tell('scene');
  }
  private async learn(view: NetView): Promise<void> {
    view.lines = await this.engine.ask('numLines', view.net.id);
    this.tell('net');
    view.findings = await this.engine.ask('findings', view.net.id);
    if (this.state.view !== view) return;
    this.tell('findings');
    // A scene of a large net is there before its findings; one that is being made has them.
    if (!this.sceneTask && this.render.counts().flags & sceneFlags.unchecked && view.findings.some((f) => f.severity !== 'note')) await this.build(view);
  }

  /** Draws the net with other options; what is given stays where it is. */
  async redraw(options: ViewOptions, at: Anchor['what']): Promise<boolean> {
    const { view } = this.state;
    if (!view) return false;
    const before = view.options;
    view.options = options;
    const done = await this.build(view, { anchor: this.anchorOf(at) });
    if (!done) view.options = before;
    return done;
  }

  cancel(): void {
    this.state.working?.cancel();
  }
  working(what: string | null, done = 0, cancel: () => void = () => {}): void {
    this.state.working = what === null ? null : { what, done, cancel };
    this.tell('working');
  }

  // Scopes.

  async toggleScope(scope: number, all = false): Promise<void> {
    const { view } = this.state;
    if (!view) return;
    const expanded = new Set(view.options.expandAll ? await this.scopesBelow(view, 0) : view.expanded);
    const opening = !expanded.has(scope);
    if (opening) {
      expanded.add(scope);
      if (all) for (const inner of await this.scopesBelow(view, scope)) expanded.add(inner);
    } else {
      expanded.delete(scope);
      for (const inner of await this.scopesBelow(view, scope, expanded)) expanded.delete(inner);
    }
    await this.setExpanded(view, expanded, this.anchorOf({ scope }));
    this.announce(opening ? 'Expanded' : 'Collapsed');
  }
  async expandAll(): Promise<void> {
    const { view } = this.state;
    if (!view) return;
    const before = view.options;
    view.options = { ...view.options, expandAll: true };
    delete view.options.expanded;
    if (!(await this.build(view, { refit: true }))) view.options = before;
  }
  async collapseAll(): Promise<void> {
    const { view } = this.state;
    if (view) await this.setExpanded(view, new Set(), null, true);
  }
  private async setExpanded(view: NetView, expanded: Set<number>, anchor: Anchor | null, refit = false): Promise<void> {
    const before = view.expanded, options = view.options;
    view.expanded = expanded;
    view.options = { ...view.options, expanded: [...expanded], expandAll: false };
    if (!(await this.build(view, { anchor, refit }))) {
      view.expanded = before;
      view.options = options;
    }
  }
  /** All scopes inside one; only those in `among`, when given. */
  private async scopesBelow(view: NetView, scope: number, among?: Set<number>): Promise<number[]> {
    const out: number[] = [];
    const queue = [scope];
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      const { scopes } = await this.engine.ask('children', view.net.id, view.mode, next);
      for (const { id, numScopes } of scopes) {
        if (among && !among.has(id)) continue;
        out.push(id);
        if (numScopes > 0) queue.push(id);
      }
    }
    return out;
  }

  private anchorOf(what: { op: number } | { scope: number }): Anchor | null {
    const rect = 'op' in what ? this.render.opRect(what.op) : this.render.scopeRect(what.scope);
    return rect ? { what, at: this.view.toScreen(rect.x, rect.y) } : null;
  }
  /** Moves the camera so that what was clicked stays where it was. */
  private keep(anchor: Anchor): void {
    const rect = 'op' in anchor.what ? this.render.opRect(anchor.what.op) : this.render.scopeRect(anchor.what.scope);
    if (!rect) return;
    const now = this.view.toScreen(rect.x, rect.y);
    const { x, y, scale } = this.view.camera;
    this.view.set({ x: x + (now.x - anchor.at.x) / scale, y: y + (now.y - anchor.at.y) / scale, scale });
  }

  // Nested nets.

  async enter(op: number): Promise<boolean> {
    const { view } = this.state;
    if (!view) return false;
    const place = this.inPlace.locate(op);
    const nets = await this.engine.ask('nestedNets', place.net, place.op);
    if (nets[0] === undefined) return false;
    await this.refresh();
    await this.show(nets[0]);
    return true;
  }
  async leave(): Promise<void> {
    const net = this.state.view?.net;
    if (!net || net.parent < 0) return;
    await this.show(net.parent);
    await this.selectOp(net.parentOp, { reveal: true });
  }
  isExpanded(scope: number): boolean {
    const { view } = this.state;
    return !!view && (view.options.expandAll === true || view.expanded.has(scope));
  }
  /** From the outermost net to the current one. */
  path(): NetInfo[] {
    const out: NetInfo[] = [];
    for (let net = this.state.view?.net; net; net = this.state.nets.find((n) => n.id === net!.parent)) out.unshift(net);
    return out;
  }

  // Selecting.

  async pick(picked: Picked | null): Promise<void> {
    if (!picked) return this.select(null);
    if (picked.what === 'op' || picked.what === 'bundle') return this.selectOp(picked.op);
    if (picked.what === 'value') return this.selectValue(picked.value);
    return this.selectScope(picked.scope);
  }
  async double(picked: Picked, all: boolean): Promise<void> {
    if (picked.what === 'scope' || picked.what === 'group') await this.toggleScope(picked.scope, all);
    else if (picked.what === 'op') await (all ? this.enter(picked.op) : this.inPlace.toggle(picked.op));
  }

  select(selection: Selection | null): void {
    ++this.selecting;
    this.state.selection = selection;
    this.mark();
    this.tell('selection');
  }
  async selectOp(op: number, { reveal = false } = {}): Promise<void> {
    const { view } = this.state;
    if (!view || op < 0) return;
    const mine = ++this.selecting;
    const details = await this.inPlace.describeOp(op);
    if (mine !== this.selecting) return;
    await this.learnTypes(view.net.id, [
      ...details.inputs.flatMap((p) => [p.writer, p.overwrittenBy]), ...details.outputs.flatMap((p) => [...p.readers.slice(0, 40), p.overwrittenBy]),
      details.forward, ...details.servedBy.slice(0, 40), ...details.replicas.slice(0, 40),
    ]);
    if (mine !== this.selecting) return;
    this.select({ what: 'op', op, details });
    if (reveal) this.reveal();
    this.announce(`${details.type}, operator ${this.inPlace.locate(op).op}, ${details.numInputs} inputs, ${details.numOutputs} outputs`);
  }
  /** Several operators, any order. */
  async selectOps(ops: Int32Array): Promise<void> {
    const { view } = this.state;
    if (!view) return;
    if (ops.length < 2) return ops[0] === undefined ? this.select(null) : this.selectOp(ops[0]);
    const mine = ++this.selecting;
    const sorted = Int32Array.from(new Set(ops)).filter((op) => op < view.net.numOps).sort();
    if (sorted.length === 0) return this.onProblem(ONE_BY_ONE);
    await this.learnTypes(view.net.id, [...sorted.subarray(0, MAX_MARKED)]);
    if (mine !== this.selecting) return;
    this.select({ what: 'ops', ops: sorted });
    this.announce(`${sorted.length} operators selected`);
  }
  /** Adds what was picked to the selection, or takes it out again. */
  async extend(picked: Picked | null): Promise<void> {
    const { view } = this.state;
    if (!view || !picked || picked.what === 'value') return;
    const ops = new Set(this.selectedOps());
    const more = 'op' in picked ? [picked.op] : this.opsShownBy(picked.scope);
    const known = more.every((op) => ops.has(op));
    for (const op of more) known ? ops.delete(op) : ops.add(op);
    await this.selectOps(Int32Array.from(ops));
  }
  private opsShownBy(scope: number): number[] {
    const rect = this.render.scopeRect(scope);
    if (!rect) return [];
    const from = this.view.toScreen(rect.x, rect.y), to = this.view.toScreen(rect.x + rect.w, rect.y + rect.h);
    return [...this.render.opsIn(from.x, from.y, to.x, to.y)];
  }
  /** The operators that the selection names itself. */
  selectedOps(): Int32Array {
    const { selection } = this.state;
    return selection?.what === 'ops' ? selection.ops : selection?.what === 'op' ? Int32Array.of(selection.op) : new Int32Array();
  }
  /** The selected operators become one box, collapsed and selected. */
  async group(): Promise<void> {
    const { view } = this.state;
    const ops = this.selectedOps();
    if (!view || ops.length === 0) return;
    if (ops.some((op) => op >= view.net.numOps)) return this.onProblem(ONE_BY_ONE);
    const anchor = this.anchorOf({ op: ops[0] ?? 0 });
    const expanded = new Set(view.options.expandAll ? await this.scopesBelow(view, 0) : view.expanded);
    const scope = await this.engine.ask('group', view.net.id, view.mode, ops, `${this.typeOf(ops[0] ?? -1)} and ${ops.length - 1} more`);
    ++view.groups;
    await this.setExpanded(view, expanded, anchor);
    await this.selectScope(scope);
  }
  async ungroup(): Promise<void> {
    const { view, selection } = this.state;
    if (!view || selection?.what !== 'scope') return;
    const anchor = this.anchorOf({ scope: selection.scope });
    await this.engine.ask('ungroup', view.net.id, view.mode, selection.scope);
    this.select(null);
    const expanded = new Set(view.expanded);
    expanded.delete(selection.scope);
    ++view.groups;
    await this.setExpanded(view, expanded, anchor);
  }
  /** The selected operators as protobuf text. */
  async textOf(): Promise<string> {
    const places = [...this.selectedOps().subarray(0, MAX_COPIED)].map((op) => this.inPlace.locate(op));
    const texts = await Promise.all(places.map(({ net, op }) => this.engine.ask('opText', net, op)));
    return texts.length === 1 ? texts[0] ?? '' : texts.map((text) => `op {\n${text.replace(/^(?=.)/gm, '  ')}}\n`).join('');
  }
  async selectScope(scope: number): Promise<void> {
    const { view } = this.state;
    if (!view) return;
    const mine = ++this.selecting;
    const info = await this.engine.ask('describeScope', view.net.id, view.mode, scope);
    if (mine !== this.selecting) return;
    this.select({ what: 'scope', scope, info });
    this.announce(`Scope ${info.path || info.label}, ${info.numOps} operators`);
  }
  async selectValue(value: number, { reveal = false } = {}): Promise<void> {
    const { view } = this.state;
    if (!view) return;
    await this.selectBlob(-1, value, { reveal });
  }
  /** By a value, the blob need not be known. */
  async selectBlob(blob: number, value = -1, { reveal = false } = {}): Promise<void> {
    const { view } = this.state;
    if (!view) return;
    const mine = ++this.selecting;
    const details = value >= 0 ? await this.inPlace.describeValue(value) : await this.engine.ask('describeBlob', view.net.id, blob);
    if (mine !== this.selecting) return;
    const version = details.versions.find((v) => v.value === value) ?? details.versions.at(-1);
    await this.learnTypes(view.net.id, details.versions.slice(0, 200).flatMap((v) => [v.writer, ...v.readers.slice(0, 24)]));
    if (mine !== this.selecting) return;
    this.select({ what: 'blob', blob: details.blob, value: version?.value ?? -1, details });
    if (reveal) this.reveal();
    this.announce(`Blob ${details.name}, version ${version?.version ?? 0} of ${details.versions.length}`);
  }
  async selectBlobNamed(name: string, version?: number, how: { reveal?: boolean } = {}): Promise<void> {
    const { view } = this.state;
    if (!view) return;
    const blob = await this.engine.ask('findBlob', view.net.id, name);
    const details = version === undefined ? null : await this.engine.ask('describeBlob', view.net.id, blob);
    await this.selectBlob(blob, details?.versions.find((v) => v.version === version)?.value ?? -1, how);
  }

  /** "Conv" for an op that was learnt, else "op". */
  typeOf(op: number, net = this.state.view?.net.id ?? -1): string {
    return this.labels.of(net, op)?.type ?? 'op';
  }
  /** The first blob that it writes. */
  nameOf(op: number, net = this.state.view?.net.id ?? -1): string {
    return this.labels.of(net, op)?.name ?? '';
  }
  learnTypes(net: number, ops: number[]): Promise<void> {
    return this.labels.learn(net, ops);
  }

  /** The op that the selection is about: itself, the writer or first reader of a version. */
  selectedOp(): number {
    const { selection } = this.state;
    if (selection?.what === 'op') return selection.op;
    if (selection?.what === 'ops') return selection.ops[0] ?? -1;
    if (selection?.what === 'blob') {
      const version = selection.details?.versions.find((v) => v.value === selection.value);
      return version ? (version.writer >= 0 ? version.writer : version.readers[0] ?? -1) : -1;
    }
    return -1;
  }

  private selectedRect(): Rectangle | null {
    const { selection } = this.state;
    if (!selection) return null;
    return selection.what === 'scope' ? this.render.scopeRect(selection.scope) : this.render.opRect(this.selectedOp());
  }
  /** Moves the view to the selection. */
  reveal(): void {
    const rect = this.selectedRect();
    if (rect) this.view.reveal(rect);
  }
  /** What is selected and was seen is shown again when a panel took its place. */
  resized(before: Sight): void {
    const rect = this.selectedRect(), now = this.view.sight();
    if (rect && shown(rect, now) < shown(rect, before) && rect.w * now.scale < now.w - 16 && rect.h * now.scale < now.h - 16) this.view.show(rect);
  }
  /** Expands what hides the selected op, then moves there. */
  async revealFully(): Promise<void> {
    const { view } = this.state;
    const op = this.selectedOp();
    if (!view || op < 0) return this.reveal();
    if (!this.render.opRect(op)?.own) {
      const scopes = await this.engine.ask('scopesOf', view.net.id, view.mode, op);
      await this.setExpanded(view, new Set([...view.expanded, ...scopes]), this.anchorOf({ op }));
    }
    const rect = this.render.opRect(op);
    if (rect) this.view.reveal(rect);
  }

  private mark(): void {
    const { selection } = this.state;
    const { render } = this;
    render.mark('hover', {});
    if (!selection) {
      render.mark('selected', {});
      render.mark('related', {});
    } else if (selection.what === 'scope') {
      render.mark('selected', { scopes: [selection.scope] });
      render.mark('related', {});
    } else if (selection.what === 'ops') {
      render.mark('selected', { ops: selection.ops });
      render.mark('related', {});
    } else if (selection.what === 'op') {
      const { details } = selection;
      const ports = details ? [...details.inputs, ...details.outputs] : [];
      const related = details ? [...details.inputs.map((p) => p.writer), ...details.outputs.flatMap((p) => [...p.readers]), details.forward, ...details.servedBy] : [];
      render.mark('selected', { ops: [selection.op], values: ports.map((p) => p.value).filter((v) => v >= 0) });
      render.mark('related', { ops: related.filter((op) => op >= 0 && op !== selection.op).slice(0, MAX_MARKED) });
    } else {
      const version = selection.details?.versions.find((v) => v.value === selection.value);
      render.mark('selected', { values: selection.value >= 0 ? [selection.value] : [], ops: version && version.writer >= 0 ? [version.writer] : [] });
      render.mark('related', { ops: version ? version.readers.slice(0, MAX_MARKED) : [] });
    }
    this.view.invalidate();
  }

  hover(picked: Picked | null): void {
    if (!picked) this.render.mark('hover', {});
    else if (picked.what === 'op' || picked.what === 'bundle') this.render.mark('hover', { ops: [picked.op] });
    else if (picked.what === 'value') this.render.mark('hover', { values: [picked.value] });
    else this.render.mark('hover', { scopes: [picked.scope] });
    this.view.invalidate();
  }

  // Walking.

  /** One step after another: keys may come faster than answers. */
  private inTurn(act: () => Promise<void>): Promise<void> {
    const turn = this.turns.then(act);
    this.turns = turn.catch(() => {});
    return turn;
  }
  walk(direction: Direction): Promise<void> {
    return this.inTurn(() => this.walkNow(direction));
  }
  private async walkNow(direction: Direction): Promise<void> {
    const { view, selection } = this.state;
    if (!view) return;
    const op = this.selectedOp();
    if (!selection || op < 0) return this.view.pan(direction < 2 ? 0 : direction === 2 ? -120 : 120, direction > 1 ? 0 : direction === 0 ? -120 : 120);
    const next = await this.inPlace.neighbours(op, direction);
    if (direction < 2 && next[0] !== undefined) return this.selectOp(next[0], { reveal: true });
    const near = this.render.nearest(op, direction);
    if (near && 'op' in near) return this.selectOp(near.op, { reveal: true });
    if (near) {
      await this.selectScope(near.scope);
      this.reveal();
    }
  }
  step(by: number): Promise<void> {
    return this.inTurn(() => this.stepNow(by));
  }
  private async stepNow(by: number): Promise<void> {
    const { view } = this.state;
    if (!view) return;
    const op = this.selectedOp() + by;
    if (op >= 0 && op < view.net.numOps) await this.selectOp(op, { reveal: true });
  }
  /** The previous or next version of the selected blob; of an op, of its first output. */
  stepVersion(by: number): Promise<void> {
    return this.inTurn(() => this.stepVersionNow(by));
  }
  private async stepVersionNow(by: number): Promise<void> {
    const { selection } = this.state;
    if (selection?.what === 'op') {
      const port = selection.details?.outputs[0] ?? selection.details?.inputs[0];
      if (port) await this.selectBlob(port.blob, port.value);
    }
    const now = this.state.selection;
    if (now?.what !== 'blob' || !now.details) return;
    const at = now.details.versions.findIndex((v) => v.value === now.value);
    const next = now.details.versions[at + by];
    if (next) await this.selectBlob(now.blob, next.value, { reveal: true });
    else this.announce(by < 0 ? 'This is the first version' : 'This is the last version');
  }
  /** Between an op and its gradient. */
  jumpGradient(): Promise<void> {
    return this.inTurn(() => this.jumpGradientNow());
  }
  private async jumpGradientNow(): Promise<void> {
    const { selection, view } = this.state;
    if (!view || selection?.what !== 'op' || !selection.details) return;
    const serving = [...selection.details.servedBy.slice(0, 8)];
    let to = selection.details.forward >= 0 ? selection.details.forward : serving[0];
    if (to === serving[0] && serving.length > 1) {
      // Fills and sums serve it too: the gradient is the one that is marked so.
      const each = await Promise.all(serving.map((op) => this.inPlace.describeOp(op)));
      to = each.find((op) => op.isGradientOp)?.op ?? to;
    }
    if (to === undefined) this.announce('This operator has no gradient in this net');
    else await this.selectOp(to, { reveal: true });
  }

  // Finding.

  async find(query: string): Promise<void> {
    const { view } = this.state;
    this.searchTask?.cancel();
    this.searchTask = null;
    if (!view || !query.trim()) return this.clearFound();
    this.clearFaults();
    const found: Found = (this.state.found = { query, ops: new Int32Array(), blobs: new Uint32Array(), elsewhere: [], at: -1, running: true, error: '' });
    const task = search(this, this.path(), query, (_, part) => {
      if (!part || this.state.found !== found) return;
      Object.assign(found, part);
      this.tell('found');
    });
    this.searchTask = task;
    try {
      Object.assign(found, await task.result);
    } catch (error) {
      if (error instanceof WeftError && error.cancelled) return;
      found.error = (error as Error).message;
    }
    if (this.state.found !== found) return;
    found.running = false;
    this.markMatches();
    this.tell('found');
    if (found.error) return;
    void searchElsewhere(this, query, (net, place, ops) => {
      if (this.state.found !== found) return false;
      if (ops.length === 0) return true;
      found.elsewhere.push({ net: net.id, place, ops });
      if (this.state.view?.inside.some((inner) => inner.net === net.id)) this.markMatches();
      this.tell('found');
      return true;
    }).catch(() => {}); // a net that cannot be searched has no matches
  }
  private markMatches(): void {
    this.render.mark('match', { ops: this.inPlace.matches() });
    this.view.invalidate();
  }
  clearFound(): void {
    this.state.found = null;
    this.render.mark('match', {});
    this.view?.invalidate();
    this.tell('found');
  }
  /** Operators at fault: marked in red instead of what was found. */
  showFaults(ops: number[]): void {
    this.clearFound();
    this.state.faults = ops;
    this.render.mark('match', { ops });
    this.view.invalidate();
    this.tell('faults');
  }
  clearFaults(): void {
    if (this.state.faults.length === 0) return;
    this.state.faults = [];
    if (!this.state.found) this.render.mark('match', {});
    this.view.invalidate();
    this.tell('faults');
  }
  findNext(by: number): Promise<void> {
    return this.inTurn(() => this.findNextNow(by));
  }
  private async findNextNow(by: number): Promise<void> {
    const { found } = this.state;
    if (!found || found.ops.length === 0) return;
    found.at = found.at < 0 ? (by > 0 ? 0 : found.ops.length - 1) : (found.at + by + found.ops.length) % found.ops.length;
    const op = found.ops[found.at] ?? -1;
    this.tell('found');
    await this.selectOp(op, { reveal: true });
  }
}

/** How much of a rectangle of the world is seen. */
function shown({ x, y, w, h }: Rectangle, { x: left, y: top, w: width, h: height, scale }: Sight): number {
  const along = (from: number, to: number) => Math.max(0, to - from);
  return along(Math.max(x, left), Math.min(x + w, left + width / scale)) * along(Math.max(y, top), Math.min(y + h, top + height / scale));
}

interface Anchor {
  what: { op: number } | { scope: number };
  at: { x: number; y: number };
}
