import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { convertDemoPrices } from './catalog.ts'

const FILE = 'Handle,Title,Variant Price,Cost per item\nmug,"A ""mug"", 9.80",18.00,\nlid,Lid,9.80,0.05\n'

test('the demo catalog in a currency without decimals has one unit for each cent, and differs only in prices', () => {
  expect(convertDemoPrices('JPY', FILE)).toBe(
    '"Handle","Title","Variant Price","Cost per item"\n"mug","A ""mug"", 9.80","1800",""\n"lid","Lid","980","5"\n'
  )
})

test('the demo catalog in a currency with decimals is the unchanged file', async () => {
  const file = await readFile(new URL('../../demo/catalog.csv', import.meta.url), 'utf8')
  for (const currency of ['USD', 'KWD']) expect(convertDemoPrices(currency, file)).toBe(file)
})
