// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A tool: a panel that has the `weft` command do something with the net, and what such panels share.

import type { App } from '../app.ts';
import type { Task } from '../engine.ts';
import { WeftError } from '../engine.ts';
import { shellLine } from '../command.ts';
import { h, icon } from '../dom.ts';

export interface Tool {
  id: string;
  title: string; // one word, below its icon
  what: string; // a sentence
  icon: string;
  make(app: App): ToolPanel; // when it is first opened
}

export interface ToolPanel {
  element: HTMLElement;
  /** Called when the panel opens and, while it is open, when the net that commands are about may have changed. */
  update(opens: boolean): void;
}

/** A heading over controls. */
export const part = (label: string, ...content: (Node | string)[]): HTMLElement =>
  h('section', h('div.label', label), ...content);

/** A line about work that goes on, with a way to stop it; then what went wrong, if something did. */
export class Progress {
  readonly element = h('div.progress', { role: 'status' });
  private task: Task<unknown> | null = null;

  /** The task's value, or null when it failed or a newer one took its place; failures are shown. */
  async follow<T>(what: string, task: Task<T>): Promise<T | null> {
    this.task?.cancel();
    this.task = task;
    const shown = setTimeout(() => this.task === task && this.element.replaceChildren(h('span', what, '…'), h('button.quiet', { onclick: () => task.cancel() }, 'Stop')), 150);
    try {
      const value = await task.result;
      if (this.task !== task) return null;
      this.element.replaceChildren();
      return value;
    } catch (error) {
      if (this.task !== task) return null;
      if (error instanceof WeftError && error.cancelled) this.element.replaceChildren();
      else this.fail((error as Error).message);
      return null;
    } finally {
      clearTimeout(shown);
      if (this.task === task) this.task = null;
    }
  }
  fail(message: string): void {
    this.element.replaceChildren(h('p.failed', { role: 'alert' }, message));
  }
  /** Forgets what is under way and what was said. */
  clear(): void {
    this.task?.cancel();
    this.task = null;
    this.element.replaceChildren();
  }
}

/** Names in a row, each with a cross, and a box to add one; only names that `known` has are taken, if it has any. */
export function names(label: string, hint: string, known: () => string[], changed: (names: string[]) => void): { element: HTMLElement; set(names: string[]): void; get(): string[] } {
  let chosen: string[] = [];
  const id = `names-${label.toLowerCase().replaceAll(/\W+/g, '-')}`;
  const options = h('datalist', { id });
  const input = h('input.name', { list: id, placeholder: hint, 'aria-label': label, spellcheck: false, autocomplete: 'off' });
  const chips = h('span.chips');
  const show = () => chips.replaceChildren(...chosen.map((name) =>
    h('span.namechip', name, h('button', { 'aria-label': `Remove ${name}`, onclick: () => set(chosen.filter((n) => n !== name), true) }, icon('M5 5l6 6M11 5l-6 6')))));
  const set = (next: string[], tell = false) => {
    chosen = next;
    show();
    if (tell) changed(chosen);
  };
  const add = () => {
    const name = input.value.trim();
    if (!name || chosen.includes(name)) return;
    input.value = '';
    set([...chosen, name], true);
  };
  input.addEventListener('focus', () => options.replaceChildren(...known().slice(0, 2000).map((name) => h('option', { value: name }))));
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') add();
    else if (event.key === 'Backspace' && !input.value && chosen.length > 0) set(chosen.slice(0, -1), true);
  });
  input.addEventListener('change', add);
  return { element: h('div.names', h('span.field', label), h('div.box', chips, input, options)), set, get: () => chosen };
}

/** The command line that does the same in a terminal, to copy. */
export function asCommand(words: string[]): HTMLElement {
  const line = shellLine(words);
  return h('div.ascommand', h('code', line), h('button.quiet', { title: 'Copy', 'aria-label': 'Copy the command line', onclick: () => void navigator.clipboard?.writeText(line) }, icon('M6 6h7v7H6zM3 10V3h7')));
}
