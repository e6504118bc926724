// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Commands: everything that the page can do, with an id, a "Verb something" name and its keys. Keys, menu, palette
// and help read this one list.

export interface Command {
  id: string;
  name: string;
  group: string;
  keys?: string[]; // 'Ctrl+Shift+P', '[', 'Space'; Ctrl is Cmd on a Mac
  run: () => void;
  when?: () => boolean;
}

export class Commands {
  readonly list: Command[] = [];
  private readonly byKey = new Map<string, Command[]>();

  add(...commands: Command[]): void {
    for (const command of commands) {
      this.list.push(command);
      for (const key of command.keys ?? []) {
        const same = this.byKey.get(key) ?? [];
        same.push(command);
        this.byKey.set(key, same);
      }
    }
  }

  run(id: string): void {
    this.list.find((command) => command.id === id)?.run();
  }

  /** The first key of a command, for a tooltip. */
  keyOf(id: string): string {
    return keyLabel(this.list.find((command) => command.id === id)?.keys?.[0] ?? '');
  }

  available(): Command[] {
    return this.list.filter((command) => !command.when || command.when());
  }

  /** Runs the command of a key press. Returns true when there was one. */
  press(event: KeyboardEvent): boolean {
    const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement;
    const key = keyName(event);
    // While somebody types, only chords and Escape are commands.
    if (typing && !/^(Ctrl|Alt)\+|^Escape$|^F\d/.test(key)) return false;
    if (typing && /^Ctrl\+[acvxz]$/i.test(key)) return false;
    const onControl = event.target instanceof HTMLElement && event.target.closest('button, select, summary, a, [role=treeitem], [role=option]');
    if (onControl && (key === 'Space' || key === 'Enter' || key.startsWith('Arrow'))) return false;
    for (const command of this.byKey.get(key) ?? []) {
      if (command.when && !command.when()) continue;
      event.preventDefault();
      command.run();
      return true;
    }
    return false;
  }
}

function keyName(event: KeyboardEvent): string {
  const base = event.key === ' ' ? 'Space' : event.key.length === 1 ? event.key : event.key;
  const letter = /^[a-z]$/i.test(base) ? base.toUpperCase() : base;
  const shift = event.shiftKey && (letter.length > 1 || /^[A-Z]$/.test(letter));
  return `${event.ctrlKey || event.metaKey ? 'Ctrl+' : ''}${event.altKey ? 'Alt+' : ''}${shift ? 'Shift+' : ''}${letter}`;
}

const mac = /Mac|iPhone|iPad/.test(navigator.platform);
const shown: Record<string, string> = {
  ArrowUp: '↑', ArrowDown: '↓', ArrowLeft: '←', ArrowRight: '→', Escape: 'Esc',
};
/** A key as the reader's keyboard names it. */
export function keyLabel(key: string): string {
  const parts = key.split('+').map((part) => shown[part] ?? part);
  if (mac) return parts.map((p) => ({ Ctrl: '⌘', Shift: '⇧', Alt: '⌥' })[p] ?? p).join('');
  return parts.join('+');
}
