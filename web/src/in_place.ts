// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Nets that are drawn in the boxes of their operators. A scene numbers operators and values of all its nets on from those
// of the outermost; what the engine says of a net inside is told here in the scene's numbers, so that selecting, walking
// and marking need not know of it.

import type { BlobDetails, Direction, OpDetails, SceneNet } from '../../wasm/weft.d.ts';
import type { App } from './app.ts';
import type { Rectangle } from './render.ts';
import type { Drawn } from './state.ts';

export interface Place {
  net: number;
  op: number; // in that net
  inside: SceneNet | null; // null: the outermost
}

/** The frame around what an operator holds, as the renderer knows it. */
const frameOf = (op: number): number => (op | 0x80000000) >>> 0;

export class InPlace {
  private readonly app: App;

  constructor(app: App) {
    this.app = app;
  }

  /** What the scene shows: the net alone, or with those in the boxes of operators. */
  drawn(): Drawn[] {
    const { app } = this, { view } = app.state, own = app.path().slice(1).map((net) => `${net.parentOp}.${net.parentArg}`);
    if (!view) return [];
    if (view.inside.length === 0) return [{ path: own.join('/'), net: view.net.id, firstOp: 0, numOps: view.net.numOps, firstValue: 0 }];
    return view.inside.map((net) => ({ ...net, path: [...own, ...this.pathOf(net.firstOp)].join('/') }));
  }
  /** What was found in the nets that are drawn, in the scene's numbers; else the operators at fault. */
  matches(): ArrayLike<number> {
    const { found, faults, view } = this.app.state;
    const inside = view?.inside.filter((net) => net.around >= 0).flatMap(({ net, firstOp }) =>
      (found?.elsewhere ?? []).filter((other) => other.net === net).flatMap(({ ops }) => [...ops].map((op) => op + firstOp))) ?? [];
    return !found ? faults : inside.length > 0 ? [...found.ops, ...inside] : found.ops;
  }
  /** What an operator's number in the scene stands for. */
  locate(op: number): Place {
    const { view } = this.app.state;
    const inside = view?.inside.filter((net) => op >= net.firstOp).at(-1) ?? null;
    return inside && inside.around >= 0 ? { net: inside.net, op: op - inside.firstOp, inside } : { net: view?.net.id ?? -1, op, inside: null };
  }
  /** "loop_net of While 3" of an operator inside; empty for one of the outermost net. */
  where(op: number): string {
    const { inside } = this.locate(op);
    const { app } = this, around = inside && app.state.view?.inside[inside.around];
    if (!inside || !around) return '';
    return `${app.state.nets.find((net) => net.id === inside.net)?.parentArg ?? ''} of ${app.typeOf(around.firstOp + inside.op)} ${inside.op}`;
  }
  /** The path of the net that an operator is in, from the outermost that shows: "3.loop_net". */
  pathOf(op: number): string[] {
    const { app } = this, out: string[] = [];
    for (let net = this.locate(op).inside; net && net.around >= 0; net = app.state.view?.inside[net.around] ?? null)
      out.unshift(`${net.op}.${app.state.nets.find((n) => n.id === net!.net)?.parentArg ?? ''}`);
    return out;
  }
  isOpen(op: number): boolean {
    const { net, op: own } = this.locate(op);
    return !!this.app.state.view?.inside.some((inner) => inner.op === own && inner.around >= 0 && this.app.state.view?.inside[inner.around]?.net === net);
  }
  /** The box with all that is drawn in it. */
  frame(op: number): Rectangle | null {
    return this.app.render.scopeRect(frameOf(op));
  }

  /** Draws the nets that an operator holds in its box, or no longer. False when it holds none. */
  async toggle(op: number): Promise<boolean> {
    const { app } = this, { view } = app.state, place = this.locate(op);
    if (!view) return false;
    const nets = [...await app.engine.ask('nestedNets', place.net, place.op)];
    if (nets.length === 0) return false;
    await app.refresh(); // they have names now
    const opened = new Set(view.options.opened ?? []), opening = !this.isOpen(op);
    for (const net of nets) opening ? opened.add(net) : opened.delete(net);
    app.select(null); // numbers of what is inside change
    if (!(await app.redraw({ ...view.options, opened: [...opened] }, { op: this.outermost(op) }))) return true;
    const now = (view.inside.find((inner) => inner.net === place.net)?.firstOp ?? 0) + place.op;
    await app.selectOp(now);
    const seen = opening ? this.frame(now) : app.render.opRect(now);
    if (seen) app.view.reveal(seen, false);
    app.announce(opening ? 'Opened in place' : 'Closed');
    return true;
  }
  /** The operator of the outermost net that holds one inside; itself when it is of that net. */
  outermost(op: number): number {
    for (let { inside } = this.locate(op); inside; { inside } = this.locate(op)) op = (this.app.state.view?.inside[inside.around]?.firstOp ?? 0) + inside.op;
    return op;
  }

  // What the engine says, in the scene's numbers.

  async describeOp(op: number): Promise<OpDetails> {
    const place = this.locate(op);
    const told = await this.app.engine.ask('describeOp', place.net, place.op);
    if (!place.inside) return told;
    const { op: o, value } = this.numbering(place.inside), { view } = this.app.state;
    await this.app.learnTypes(view?.net.id ?? -1, [(view?.inside[place.inside.around]?.firstOp ?? 0) + place.inside.op]); // for where()
    return {
      ...told, op, forward: o(told.forward), servedBy: told.servedBy.map(o), replicas: told.replicas.map(o), scopes: new Uint32Array(),
      findings: Uint32Array.from((view?.findings ?? []).flatMap((f, i) => (f.op === place.op && f.path === this.pathOf(op).join('/') ? [i] : []))),
      inputs: told.inputs.map((p) => ({ ...p, value: value(p.value), writer: o(p.writer), overwrittenBy: o(p.overwrittenBy) })),
      outputs: told.outputs.map((p) => ({ ...p, value: value(p.value), readers: p.readers.map(o), overwrittenBy: o(p.overwrittenBy) })),
    };
  }
  /** The blob of a value. */
  async describeValue(number: number): Promise<BlobDetails> {
    const { app } = this, { view } = app.state;
    const inside = view?.inside.filter((net) => net.around >= 0 && number >= net.firstValue).at(-1);
    const net = inside?.net ?? view?.net.id ?? -1;
    const told = await app.engine.ask('describeBlob', net, await app.engine.ask('blobOfValue', net, number - (inside?.firstValue ?? 0)));
    if (!inside) return told;
    const { op, value } = this.numbering(inside);
    return { ...told, versions: told.versions.map((v) => ({ ...v, value: value(v.value), writer: op(v.writer), lastReader: op(v.lastReader), readers: v.readers.map(op) })) };
  }
  async neighbours(op: number, direction: Direction): Promise<number[]> {
    const { net, op: own, inside } = this.locate(op);
    return [...await this.app.engine.ask('neighbours', net, own, direction)].map((next) => next + (inside?.firstOp ?? 0));
  }
  private numbering(net: SceneNet): { op: (op: number) => number; value: (value: number) => number } {
    const taken = new Map<number, number>();
    for (let i = 0; i + 1 < net.taken.length; i += 2) taken.set(net.taken[i] ?? -1, net.taken[i + 1] ?? -1);
    return { op: (op) => (op < 0 ? op : op + net.firstOp), value: (value) => (value < 0 ? value : taken.get(value) ?? value + net.firstValue) };
  }
}
