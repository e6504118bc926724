// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The colours, once: as CSS variables for the panels and as a list for the renderer, in the order of its ThemeColor.

export type ThemeName = 'system' | 'light' | 'dark' | 'contrast';
type Colors = Record<(typeof colorNames)[number], string>;

/** The order is the renderer's (inspector/render/theme.h). */
export const colorNames = [
  'paper', 'ink', 'ink2', 'ink3', 'rule', 'box', 'boxBorder', 'group', 'groupBorder',
  'forward', 'backward', 'update', 'plain', 'edge', 'stash', 'select', 'match', 'error', 'chip', 'panel',
] as const;

const themes: Record<'light' | 'dark' | 'contrast', Colors> = {
  light: {
    paper: '#fcfbf8', ink: '#1d2126', ink2: '#565b62', ink3: '#868a90', rule: '#e4e0d7', box: '#ffffff',
    boxBorder: '#c8c3b8', group: '#f3f0e8', groupBorder: '#ddd8cc', forward: '#1c5fa8', backward: '#bf4a08',
    update: '#0a7757', plain: '#6e727a', edge: '#a9a598', stash: '#d9b9a3', select: '#1d2126', match: '#ffd84d',
    error: '#b3122a', chip: '#f0ece2', panel: '#f7f5f0',
  },
  dark: {
    paper: '#15171a', ink: '#e8e5de', ink2: '#a9a8a2', ink3: '#797a77', rule: '#2b2f34', box: '#1f2328',
    boxBorder: '#434950', group: '#1a1d21', groupBorder: '#30353b', forward: '#6fb1f2', backward: '#f0915c',
    update: '#46c79d', plain: '#9a9d9f', edge: '#5d636a', stash: '#5f4738', select: '#f2efe8', match: '#a88a12',
    error: '#ff7a80', chip: '#292d32', panel: '#1b1e22',
  },
  contrast: {
    paper: '#000000', ink: '#ffffff', ink2: '#ffffff', ink3: '#d8d8d8', rule: '#8c8c8c', box: '#000000',
    boxBorder: '#ffffff', group: '#0c0c0c', groupBorder: '#b0b0b0', forward: '#5cc8ff', backward: '#ffb000',
    update: '#6cf59a', plain: '#ffffff', edge: '#d0d0d0', stash: '#a07840', select: '#ffff00', match: '#c8a800',
    error: '#ff6e6e', chip: '#1c1c1c', panel: '#000000',
  },
};

const prefersDark = matchMedia('(prefers-color-scheme: dark)');
const prefersContrast = matchMedia('(prefers-contrast: more)');

function resolve(name: ThemeName): 'light' | 'dark' | 'contrast' {
  if (name !== 'system') return name;
  return prefersContrast.matches ? 'contrast' : prefersDark.matches ? 'dark' : 'light';
}

function stored(): ThemeName {
  try {
    const name = localStorage.getItem('weft.theme');
    if (name === 'light' || name === 'dark' || name === 'contrast') return name;
  } catch {
    // Storage may be forbidden, on file pages for instance; then the choice lasts for this visit.
  }
  return 'system';
}

export class Theme {
  private name_: ThemeName = stored();
  private readonly listeners: (() => void)[] = [];

  constructor() {
    for (const query of [prefersDark, prefersContrast]) query.addEventListener('change', () => this.apply());
    this.apply();
  }

  get name(): ThemeName {
    return this.name_;
  }
  /** The theme that shows: never 'system'. */
  get shown(): 'light' | 'dark' | 'contrast' {
    return resolve(this.name_);
  }
  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }
  set(name: ThemeName): void {
    this.name_ = name;
    try {
      localStorage.setItem('weft.theme', name);
    } catch {
      // As above.
    }
    this.apply();
  }
  /** 0xRRGGBB in the renderer's order. `faults`: what is marked is at fault, not found. */
  rendererColors(faults = false): Uint32Array {
    const colors = themes[this.shown];
    return Uint32Array.from(colorNames, (name) => parseInt(colors[faults && name === 'match' ? 'error' : name].slice(1), 16));
  }

  private apply(): void {
    const root = document.documentElement;
    const colors = themes[this.shown];
    root.dataset.theme = this.shown;
    for (const name of colorNames) {
      root.style.setProperty('--' + name.replace(/[A-Z]/g, (c) => '-' + c.toLowerCase()), colors[name]);
    }
    root.style.colorScheme = this.shown === 'light' ? 'light' : 'dark';
    for (const listener of this.listeners) listener();
  }
}
