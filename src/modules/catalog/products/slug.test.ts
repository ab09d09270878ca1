import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { createCategory, createProduct, useCatalog } from '../../../../test/support/catalog.ts'
import { importFile } from '../../../../test/support/csv.ts'
import { shareShops } from '../../../../test/support/shared-shops.ts'
import { runSql } from '../../../../test/support/sql.ts'
import { slugOfName } from './slug.ts'

const admin = { token: 'admin' }

test.each([
  ['Crème Brûlée!', 'creme-brulee'],
  ['Ｆｕｌｌ ｗｉｄｔｈ', 'full-width'],
  ['Straße Ærø, Łódź', 'strasse-aero-lodz'],
  ['İstanbul ışık', 'istanbul-isik'],
  ['Việt Nam', 'viet-nam'],
  // Without its marks, the word for glass would mean crow, and that for reading lamp would lose its vowels.
  ['ガラス', 'ガラス'],
  ['バッグ ①２', 'バッグ-12'],
  ['हिन्दी किताब', 'हिन्दी-किताब'],
  ['유리잔 세트', '유리잔-세트'],
  ['유리잔'.normalize('NFD'), '유리잔'],
  ['Йод и Ёлка', 'йод-и-ёлка'],
  ['Καφές Ελλάς', 'καφές-ελλάς'],
  ['แก้วน้ำ', 'แก้วน้ำ'],
  ['می\u200cخواهم', 'میخواهم'],
  ['ශ්\u200dරී ලංකා', 'ශ්රී-ලංකා'],
  ['❤️ 1️⃣ Mug', '1-mug'],
  ['\u0301', ''],
  ['!!!', '']
])('the slug of the product name %s is %s', (name, slug) => {
  expect(slugOfName(name)).toBe(slug)
})

test.each(['a', 'é', '글', '𠮷', 'कि'])(
  'the slug from a long product name of %s is cut between letters',
  letter => {
    const slug = slugOfName(letter.repeat(300))
    expect(slug.length).toBeLessThanOrEqual(255)
    expect(slug.isWellFormed()).toBe(true)
    expect(slug.length).toBeGreaterThan(252)
  }
)

describe('a slug that is not ASCII', () => {
  shareShops()

  test.each(['유리잔', 'ガラス', 'हिन्दी', 'Ёлка'])(
    'a product with the slug %s is found as the slug is typed, in composed or decomposed Unicode',
    async name => {
      const app = await useCatalog()
      await createCategory(app, name)
      await createProduct(app, { name, slug: undefined })
      for (const form of ['NFC', 'NFD']) {
        const slug = encodeURIComponent(name.toLowerCase().normalize(form))
        expect((await app.request('GET', `/api/products/${slug}`)).json).toMatchObject({ name })
        expect((await app.request('GET', `/api/categories/${slug}`)).json).toMatchObject({ name })
      }
    }
  )
})

test('a product slug is the same in composed and decomposed Unicode, sent or imported', async () => {
  const app = await useCatalog()
  const glass = '유리잔'
  const { id, slug } = await createProduct(app, { name: 'Glass', slug: glass.normalize('NFD') })
  expect(slug).toBe(glass)
  const patched = await app.request('PATCH', `/api/catalog/products/${id}`, {
    ...admin,
    body: { slug: `${glass}-2`.normalize('NFD') }
  })
  expect(patched.json.slug).toBe(`${glass}-2`)
  const file = `Handle,Title,Variant Price\n${`${glass}-2`.normalize('NFD')},Glass,1.00\n`
  expect((await importFile(app, file)).json.products).toMatchObject({ created: 0, failed: 0 })
})

test('the migration changes slugs to composed Unicode, except those that would become equal', async () => {
  const app = await useCatalog()
  const glass = '유리잔'
  const apart = glass.normalize('NFD')
  const old = await createProduct(app, { name: 'Old' })
  const lid = await createProduct(app, { name: 'Lid' })
  const twin = await createProduct(app, { name: 'Twin', slug: `${glass}-b` })
  const category = await createCategory(app, 'Glasses')
  await runSql(app.databaseUrl, 'update catalog.products set slug = $2 where id = $1', [old.id, apart])
  await runSql(app.databaseUrl, 'update catalog.products set slug = $2 where id = $1', [lid.id, `${apart}-b`])
  await runSql(app.databaseUrl, 'update catalog.categories set slug = $2 where id = $1', [category.id, apart])
  const migration = new URL('../migrations/0005_composed_slugs.sql', import.meta.url)
  await runSql(app.databaseUrl, readFileSync(migration, 'utf8'))
  const found = async (path: string) =>
    (await app.request('GET', `/api/${path.split('/').map(encodeURIComponent).join('/')}`)).json
  for (const slug of [glass, apart]) {
    expect(await found(`products/${slug}`)).toMatchObject({ id: old.id, slug: glass })
    expect(await found(`categories/${slug}`)).toMatchObject({ id: category.id })
  }
  expect(await found(`products/${glass}-b`)).toMatchObject({ id: twin.id })
  expect(await found(`products/${lid.id}`)).toMatchObject({ slug: `${apart}-b` })
})
