import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { installPackage, MODULES, run } from './support/package.ts'

// Lane long: the tests of five packages take a minute. new-module.test.ts has a module that only a shop knows.

let installed: Awaited<ReturnType<typeof installPackage>>
beforeAll(async () => {
  installed = await installPackage()
  return installed.remove
})

test('the example packages compile against the types of the package, which reject mistakes', {
  timeout: 120_000
}, async () => {
  const { examples, shop } = installed
  const wrong = `
    import { createShop, standardModules, wire } from 'cartwright'
    // @ts-expect-error: there is no such setting
    createShop({ modules: standardModules, config: { shop: { curency: 'EUR' } } })
    // @ts-expect-error: the name of a request says that it is one
    wire.request('Wish', {})
    import { wishlistModule } from 'cartwright-wishlist'
    // @ts-expect-error: the installed module has this setting, but not of this type
    createShop({ modules: [...standardModules, wishlistModule], config: { wishlist: { wishes_max: 'many' } } })`
  await writeFile(join(shop, 'wrong.ts'), wrong)
  // The declarations of the package are checked only here, because that takes 5 of 7 CPU-seconds.
  const compilerOptions = { skipLibCheck: false }
  const all = { extends: './wishlist/tsconfig.json', compilerOptions, include: ['*/**/*.ts'] }
  await writeFile(join(examples, 'tsconfig.json'), JSON.stringify(all))
  await run(join(MODULES, '.bin/tsc'), ['--noEmit', '--singleThreaded'], examples)
})

test.each([
  ['wishlist', ['wishlist.test.ts', 'wishlist/wishes/routes.test.ts'], 2],
  ['gift-cards', ['gift-cards.test.ts'], 5],
  ['payment-provider', ['acme-pay.test.ts'], 20],
  ['carrier', ['acme-parcels.test.ts'], 28],
  ['extension-points', ['extension-points.test.ts'], 25]
])('the tests of the example %s pass', { timeout: 180_000 }, async (folder, files, passed) => {
  const output = await run(process.execPath, ['--test', ...files], join(installed.examples, folder))
  expect(output).toContain(`pass ${passed}`)
})

test(
  'docs/publishing-a-module.md can be pasted to its last line, and each step prints what it shows',
  {
    timeout: 180_000
  },
  async () => installed.paste('publishing-a-module.md')
)
