import type { ModuleOptions, RenderModule } from '../../../wasm/weft.d.ts';
export default function createRender(options: ModuleOptions): Promise<RenderModule>;
