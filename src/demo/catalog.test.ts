import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { demoIn } from './catalog.ts'

const FILE = 'Handle,Title,Variant Price,Cost per item\nmug,"A ""mug"", 9.80",18.00,\nlid,Lid,9.80,0.05\n'

test('where a currency has no decimals each cent is one unit, and nothing but prices changes', () => {
  expect(demoIn('JPY', FILE)).toBe(
    '"Handle","Title","Variant Price","Cost per item"\n"mug","A ""mug"", 9.80","1800",""\n"lid","Lid","980","5"\n'
  )
})

test('in other currencies the demo is the file as it is', async () => {
  const file = await readFile(new URL('../../demo/catalog.csv', import.meta.url), 'utf8')
  for (const currency of ['USD', 'KWD']) expect(demoIn(currency, file)).toBe(file)
})
