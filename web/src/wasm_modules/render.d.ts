// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0

import type { ModuleOptions, RenderModule } from '../../../wasm/weft.d.ts';
export default function createRender(options: ModuleOptions): Promise<RenderModule>;
