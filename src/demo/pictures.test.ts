import { expect, test } from 'vitest'
import { readDemoCatalog } from './catalog.ts'
import { drawDemoPicture } from './pictures.ts'

test('every picture of the demo catalog exists, is unique, and is small', async () => {
  const file = await readDemoCatalog('USD', 'https://shop.example.com')
  const names = new Set(
    [...file.matchAll(/https:\/\/shop\.example\.com\/demo\/([^,]*)/g)].map(found => found[1])
  )
  expect(file).not.toContain('127.0.0.1')
  const pictures = [...names].map(name => drawDemoPicture(name ?? '') ?? '')
  expect(pictures.filter(svg => !svg.startsWith('<svg '))).toEqual([])
  expect(pictures.length).toBeGreaterThan(90)
  expect(new Set(pictures).size).toBe(pictures.length)
  expect(pictures.join('').length).toBeLessThan(300_000)
})

test.each([
  '',
  'fika-mug',
  'fika-mug-purple.svg',
  'fika.svg',
  'toString.svg',
  'fika-mug-__proto__.svg',
  'fika-mug-detail-99.svg'
])('no demo picture exists with the name "%s"', name => {
  expect(drawDemoPicture(name)).toBeUndefined()
})
