import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { createTestDatabase } from './support/database.ts'
import { installPackage, run } from './support/package.ts'
import { startProgram } from './support/program.ts'

// Lane long: packing, installing and the tutorial take a minute. new-module.test.ts has a module that only a shop knows.

let installed: Awaited<ReturnType<typeof installPackage>>
beforeAll(async () => {
  installed = await installPackage()
  return installed.remove
})

test(
  'docs/tutorial.md can be pasted to its last line, and each step prints what it shows',
  {
    timeout: 180_000
  },
  async () => installed.paste('tutorial.md')
)

test("the command line of a shop that uses the package knows the shop's modules, and finds the bundled files", {
  timeout: 120_000
}, async () => {
  const { shop } = installed
  const main = join(shop, 'shop.ts')
  const { listening, child, ended } = startProgram({}, { main, cwd: shop })
  onTestFinished(() => void child.kill('SIGKILL'))
  const address = await listening
  const document = await (await fetch(`${address}/openapi.json`)).json()
  expect(document).toHaveProperty(['paths', '/api/wishlist/{id}'])
  expect((await fetch(`${address}/api/wishlist`)).status).toBe(401)
  const page = await (await fetch(address, { headers: { accept: 'text/html' } })).text()
  expect(page).toContain('/guides/storefront.md')
  for (const path of ['/docs', '/docs/main.js', '/shop', '/guides/storefront.md', '/demo/fika-mug.svg'])
    expect((await fetch(address + path)).status, path).toBe(200)
  child.kill('SIGTERM')
  expect(await ended).toMatchObject({ code: 0, stderr: '' })

  const help = await run(process.execPath, [main, 'help', 'migrate'], shop)
  expect(help).toContain('node shop.ts migrate')
  await expect(run(process.execPath, [main, 'serve'], shop)).rejects.toThrow('See "node shop.ts --help"')
  await expect(run(process.execPath, [main, 'chaos'], shop)).rejects.toThrow(
    /^.* chaos:\n\nThe chaos suite is not in the package\. [^\n]*\n$/
  )
})

test('in a shop that uses the package the diagnostics thread starts, and reports that its port is in use', {
  timeout: 120_000
}, async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  onTestFinished(() => void taken.close())
  const { port } = taken.address() as AddressInfo
  const database = await createTestDatabase()
  onTestFinished(database.drop)
  const settings = { DATABASE_URL: database.url, CARTWRIGHT__SERVER__DIAGNOSTICS_PORT: String(port) }
  const { shop } = installed
  const { ended } = startProgram(settings, { main: join(shop, 'shop.ts'), cwd: shop })
  expect(await ended).toMatchObject({ code: 1, stderr: expect.stringContaining(`${port}`) })
  expect((await ended).stderr).toContain('in use')
})
