// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The graph as a tree of scopes and operators: the way in for screen readers and keyboards, and an outline for everyone.
// Children are asked for when a branch is opened.

import type { ScopeInfo } from '../../wasm/weft.d.ts';
import type { App } from './app.ts';
import { digits, h } from './dom.ts';

const PAGE = 300; // operators that are added at a time

export class Outline {
  readonly element = h('div.outline', { role: 'tree', 'aria-label': 'Scopes and operators' });
  private readonly app: App;
  private key = '';

  constructor(app: App) {
    this.app = app;
    this.element.addEventListener('keydown', (event) => this.key_(event));
    this.element.addEventListener('click', (event) => this.click(event));
    app.on(['net', 'scene'], () => void this.reset());
    app.on(['selection'], () => this.mark());
  }

  private async reset(): Promise<void> {
    const { view } = this.app.state;
    const key = view ? `${view.net.id}/${view.mode}/${view.groups}` : '';
    if (key === this.key) return;
    this.key = key;
    this.element.replaceChildren();
    if (view) await this.fill(this.element, 0, 1);
  }

  private async fill(into: HTMLElement, scope: number, level: number): Promise<void> {
    const { view } = this.app.state;
    const key = this.key;
    if (!view) return;
    const { scopes, ops } = await this.app.engine.ask('children', view.net.id, view.mode, scope);
    if (key !== this.key) return;
    const size = scopes.length + ops.length;
    into.append(...scopes.map((info, i) => this.scopeItem(info, level, i + 1, size)));
    await this.moreOps(into, view.net.id, ops, 0, level, scopes.length, size);
    if (level === 1) this.focusable(this.element.querySelector<HTMLElement>('[role=treeitem]'));
    this.mark();
  }

  private async moreOps(into: HTMLElement, net: number, ops: Int32Array, from: number, level: number, before: number, size: number): Promise<void> {
    const some = ops.subarray(from, from + PAGE);
    await this.app.learnTypes(net, [...some]);
    into.append(...Array.from(some, (op, i) => this.item(level, before + from + i + 1, size, { 'data-op': op }, h('span.twist'), h('span', this.app.typeOf(op)), h('span.name', this.app.nameOf(op)), h('span.n', op))));
    if (from + PAGE < ops.length) {
      const more = this.item(level, size, size, {}, h('span.twist'), h('span.faint', `${digits(ops.length - from - PAGE)} more`));
      more.addEventListener('click', (event) => {
        event.stopPropagation();
        more.remove();
        void this.moreOps(into, net, ops, from + PAGE, level, before, size);
      });
      into.append(more);
    }
  }

  private scopeItem(info: ScopeInfo, level: number, at: number, size: number): HTMLElement {
    return this.item(level, at, size, { 'data-scope': info.id, 'aria-expanded': 'false' }, h('span.twist', '▸'), h('span.scope', info.label),
      h('span.n', `${digits(info.numOps)}${info.repeats > 1 ? `, one of ${info.repeats} alike` : ''}`));
  }
  private item(level: number, at: number, size: number, props: Record<string, unknown>, ...children: Node[]): HTMLElement {
    const item = h('div', { role: 'treeitem', tabIndex: -1, 'aria-level': level, 'aria-posinset': at, 'aria-setsize': size, ...props }, ...children);
    item.style.paddingLeft = `${10 + (level - 1) * 16}px`;
    return item;
  }

  private async toggle(item: HTMLElement, open = item.getAttribute('aria-expanded') !== 'true'): Promise<void> {
    if (!item.dataset.scope) return;
    item.setAttribute('aria-expanded', String(open));
    item.querySelector('.twist')!.textContent = open ? '▾' : '▸';
    const next = item.nextElementSibling;
    if (next?.getAttribute('role') === 'group') next.classList.toggle('hidden', !open);
    else if (open) {
      const group = h('div', { role: 'group' });
      item.after(group);
      await this.fill(group, Number(item.dataset.scope), Number(item.getAttribute('aria-level')) + 1);
    }
  }

  private click(event: MouseEvent): void {
    const item = (event.target as HTMLElement).closest<HTMLElement>('[role=treeitem]');
    if (!item) return;
    this.focusable(item);
    item.focus();
    if ((event.target as HTMLElement).closest('.twist') || item.dataset.scope) void this.toggle(item);
    this.choose(item);
  }
  private choose(item: HTMLElement): void {
    if (item.dataset.op) void this.app.selectOp(Number(item.dataset.op)).then(() => this.app.revealFully());
    else if (item.dataset.scope) void this.app.selectScope(Number(item.dataset.scope)).then(() => this.app.reveal());
    else item.click();
  }

  private key_(event: KeyboardEvent): void {
    const item = (event.target as HTMLElement).closest<HTMLElement>('[role=treeitem]');
    if (!item || event.ctrlKey || event.metaKey || event.altKey) return;
    const shown = [...this.element.querySelectorAll<HTMLElement>('[role=treeitem]')].filter((e) => e.offsetParent !== null);
    const at = shown.indexOf(item);
    const open = item.getAttribute('aria-expanded') === 'true';
    let to: HTMLElement | undefined | null;
    if (event.key === 'ArrowDown') to = shown[at + 1];
    else if (event.key === 'ArrowUp') to = shown[at - 1];
    else if (event.key === 'Home') to = shown[0];
    else if (event.key === 'End') to = shown.at(-1);
    else if (event.key === 'ArrowRight') open ? (to = shown[at + 1]) : void this.toggle(item, true);
    else if (event.key === 'ArrowLeft') {
      if (open) void this.toggle(item, false);
      else to = item.parentElement?.previousElementSibling as HTMLElement | null;
    } else if (event.key === 'Enter' || event.key === ' ') this.choose(item);
    else return;
    event.preventDefault();
    event.stopPropagation();
    if (to) {
      this.focusable(to);
      to.focus();
    }
  }
  /** One item of the tree can be reached by Tab. */
  private focusable(item: HTMLElement | null): void {
    for (const old of this.element.querySelectorAll<HTMLElement>('[tabindex="0"]')) old.tabIndex = -1;
    if (item) item.tabIndex = 0;
  }

  private mark(): void {
    const { selection } = this.app.state;
    const what = selection?.what === 'op' ? `[data-op="${selection.op}"]` : selection?.what === 'scope' ? `[data-scope="${selection.scope}"]` : '';
    for (const old of this.element.querySelectorAll('[aria-selected=true]')) old.removeAttribute('aria-selected');
    const item = what ? this.element.querySelector<HTMLElement>(what) : null;
    item?.setAttribute('aria-selected', 'true');
    if (item && !this.element.contains(document.activeElement)) item.scrollIntoView({ block: 'nearest' });
  }
}
