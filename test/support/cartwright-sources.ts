import { registerHooks } from 'node:module'

// Resolves the package `cartwright`, which the modules of `examples` import, to the sources. A test runs them so without a build.

const SOURCES: Readonly<Record<string, string>> = {
  cartwright: new URL('../../src/index.ts', import.meta.url).href,
  'cartwright/testing': new URL('../../src/testing.ts', import.meta.url).href
}

registerHooks({ resolve: (specifier, context, next) => next(SOURCES[specifier] ?? specifier, context) })
