// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What stands beside the graph on the left: reading, or one of the tools. Tools are made when they are first opened.

import type { App } from './app.ts';
import { h, icon } from './dom.ts';
import { toolGroups, tools } from './tools/index.ts';
import type { ToolPanel } from './tools/tool.ts';

export class Rail {
  readonly element: HTMLElement;
  /** 'read' or a tool's id. */
  shown = 'read';
  private readonly app: App;
  private readonly reading: HTMLElement;
  private readonly place: HTMLElement;
  private readonly panels = new Map<string, ToolPanel>();

  /** `reading` gives way to `place`, where the tools come. `opened` hears of every press. */
  constructor(app: App, reading: HTMLElement, place: HTMLElement, opened: (again: boolean) => void) {
    this.app = app;
    this.reading = reading;
    this.place = place;
    const read = { id: 'read', title: 'Read', what: 'Text, outline, findings, files', icon: 'M3 3h4.5v10H3zM8.5 3H13v10H8.5z' };
    this.element = h('nav.rail', { 'aria-label': 'Tools' }, ...[[read], ...toolGroups].map((group) => h('div', ...group.map(({ id, title, what, icon: path }) =>
      h('button', { 'data-tool': id, title: what, onclick: () => {
        const again = this.shown === id;
        if (!again) this.show(id);
        opened(again);
      } }, icon(path), h('span', title))))));
    app.on(['net', 'files', 'preview'], () => this.panels.get(this.shown)?.update(false));
    this.show('read');
  }

  show(id: string): void {
    if (this.shown !== id) this.place.scrollTop = 0;
    this.shown = id;
    const tool = tools.find((t) => t.id === id);
    if (tool && !this.panels.has(id)) {
      const panel = tool.make(this.app);
      this.panels.set(id, panel);
      this.place.append(h('div.toolpanel', { 'data-panel': id }, h('h2', tool.what), panel.element));
    }
    for (const child of this.place.children) child.classList.toggle('hidden', (child as HTMLElement).dataset.panel !== id);
    this.reading.classList.toggle('hidden', !!tool);
    this.place.classList.toggle('hidden', !tool);
    for (const button of this.element.querySelectorAll('button')) button.setAttribute('aria-pressed', String(button.dataset.tool === id));
    this.panels.get(id)?.update(true);
  }
}
