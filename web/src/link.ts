// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the page shows as an address: the fragment names the net, how it is laid out, what is open, the camera and the
// selection, in words. Fragments never leave the browser.
//
//   url=ADDRESS net=NAME in=4.loop_net/0.then_net layout=mirror|flow bands=3 across params=0 folded=0
//   open=all|1.4.9 (scopes) at=X,Y,SCALE op=12 | ops=1.2.9 | blob=NAME@2 | scope=5

import type { ViewOptions } from '../../wasm/weft.d.ts';
import type { App } from './app.ts';
import { urlInFragment } from './files.ts';

const MOST = 3000; // scopes or operators that an address names

const escape = (text: string): string => encodeURIComponent(text).replaceAll('%2F', '/').replaceAll('%40', '@').replaceAll('%3A', ':').replaceAll('%2C', ',');

export class Link {
  private readonly app: App;
  /** Where the shown file came from, and the documents that came from there. */
  private from: { url: string; documents: Set<number> } | null = null;
  private wanted: string; // what an address asks for, until a net shows
  private following = false; // that, now: once, for a net is told of again when more is known of it
  private timer = 0;

  constructor(app: App, wanted: string) {
    this.app = app;
    this.wanted = wanted;
    app.on(['net', 'scene', 'selection', 'moved'], () => this.changed());
    app.on(['net'], () => {
      if (!this.wanted || !app.state.view) return;
      const fragment = this.wanted;
      this.wanted = '';
      this.following = true;
      setTimeout(() => void this.follow(fragment).finally(() => {
        this.following = false;
        this.changed();
      }));
    });
  }

  /** A person changed the address: another view of what is open, or another file, which `open` opens. */
  turnTo(fragment: string, open: () => void): void {
    const url = urlInFragment();
    if (!url || url === this.from?.url) return void this.follow(fragment);
    this.wanted = fragment;
    open();
  }
  /** What is open now came from there. */
  cameFrom(url: string): void {
    this.from = { url, documents: new Set(this.app.state.documents.map((document) => document.id)) };
    this.changed();
  }
  /** Something of the view changed: the address follows soon. */
  changed(): void {
    clearTimeout(this.timer);
    if (!this.wanted && !this.following) this.timer = window.setTimeout(() => this.write(), 350);
  }

  fragment(): string {
    const { view, selection } = this.app.state;
    if (!view) return '';
    const out: string[] = [];
    const put = (key: string, value: string | number) => out.push(`${key}=${escape(String(value))}`);
    const path = this.app.path(), { options } = view;
    if (this.from?.documents.has(view.net.document)) out.push(`url=${encodeURIComponent(this.from.url)}`);
    put('net', path[0]?.name ?? '');
    if (path.length > 1) put('in', path.slice(1).map((net) => `${net.parentOp}.${net.parentArg}`).join('/'));
    if (options.mode) put('layout', view.mode === 2 ? 'mirror' : 'flow');
    if (options.bands !== undefined && options.bands !== 15) put('bands', options.bands);
    if (options.horizontal) put('across', 1);
    if (options.showNames === false) put('names', 0);
    if (options.showArguments) put('args', 1);
    if (options.showParams === false) put('params', 0);
    if (options.foldReplicas === false) put('folded', 0);
    if (options.expandAll) put('open', 'all');
    else if (options.expanded && options.expanded.length <= MOST && view.groups === 0) put('open', [...options.expanded].sort((a, b) => a - b).join('.'));
    const held = new Set(view.inside.filter((inner) => inner.around === 0).map((inner) => inner.op));
    if (held.size > 0 && held.size <= MOST) put('inside', [...held].join('.'));
    const { x, y, scale } = this.app.view.camera;
    put('at', `${Math.round(x)},${Math.round(y)},${Number(scale.toPrecision(4))}`);
    if (selection?.what === 'op' && selection.op < view.net.numOps) put('op', selection.op);
    else if (selection?.what === 'ops' && selection.ops.length <= MOST) put('ops', selection.ops.join('.'));
    else if (selection?.what === 'blob') put('blob', `${selection.details?.name}@${selection.details?.versions.find((v) => v.value === selection.value)?.version ?? 0}`);
    else if (selection?.what === 'scope' && view.groups === 0) put('scope', selection.scope);
    return out.join('&');
  }

  private write(): void {
    const fragment = this.fragment();
    if (!fragment) return;
    try {
      history.replaceState(null, '', '#' + fragment);
    } catch {
      // A browser may forbid it where the page has no address of its own; then there is nothing to keep.
    }
  }

  /** Shows what a fragment says of a net that is open; says nothing, does nothing. */
  async follow(fragment: string): Promise<void> {
    const said = new Map(fragment.replace(/^#/, '').split('&').map((part) => {
      const at = part.indexOf('=');
      return [part.slice(0, at), decode(part.slice(at + 1))] as const;
    }));
    const { app } = this;
    const name = said.get('net');
    let net = app.state.nets.find((n) => n.parent < 0 && n.name === name && (n.id === app.path()[0]?.id)) ?? app.state.nets.find((n) => n.parent < 0 && n.name === name);
    if (name === undefined || !net) return;
    for (const step of said.get('in')?.split('/') ?? []) {
      const [op = '', arg = ''] = step.split(/\.(.*)/);
      await app.engine.ask('nestedNets', net.id, number(op));
      await app.refresh();
      const outer: number = net.id;
      net = app.state.nets.find((n) => n.parent === outer && n.parentOp === number(op) && n.parentArg === arg);
      if (!net) return;
    }
    const list = (key: string) => said.get(key)?.split('.').map(number).filter((n) => n >= 0).slice(0, MOST);
    const options: ViewOptions = {};
    const layout = said.get('layout'), bands = number(said.get('bands') ?? ''), open = said.get('open');
    if (layout === 'flow' || (layout === 'mirror' && net.hasGradients)) options.mode = layout === 'flow' ? 1 : 2;
    if (bands > 0 && bands < 16) options.bands = bands;
    if (said.get('across')) options.horizontal = true;
    if (said.get('names') === '0') options.showNames = false;
    if (said.get('args')) options.showArguments = true;
    if (said.get('params') === '0') options.showParams = false;
    if (said.get('folded') === '0') options.foldReplicas = false;
    if (open === 'all') options.expandAll = true;
    else if (open !== undefined) options.expanded = list('open') ?? [];
    for (const op of list('inside') ?? []) if (op < net.numOps) options.opened = [...(options.opened ?? []), ...await app.engine.ask('nestedNets', net.id, op)];
    if (options.opened) await app.refresh();
    const [x = NaN, y = NaN, scale = NaN] = said.get('at')?.split(',').map(Number) ?? [];
    await app.show(net.id, { as: { options, camera: Number.isFinite(x + y) && scale > 1e-6 && scale < 100 ? { x, y, scale } : null } });
    const op = number(said.get('op') ?? ''), scope = number(said.get('scope') ?? ''), ops = list('ops');
    const [, blob, version] = /^(.*?)(?:@(\d+))?$/.exec(said.get('blob') ?? '') ?? [];
    if (op >= 0 && op < net.numOps) await app.selectOp(op);
    else if (ops) await app.selectOps(Int32Array.from(ops.filter((o) => o < net.numOps)));
    else if (blob) await app.selectBlobNamed(blob, version === undefined ? undefined : Number(version)).catch(() => {});
    else if (scope >= 0) await app.selectScope(scope).catch(() => {});
  }
}

const number = (text: string): number => (/^\d{1,9}$/.test(text) ? Number(text) : -1);
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
