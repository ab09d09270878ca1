import { hash } from 'node:crypto'
import type pg from 'pg'
import { HIGHEST_ID } from '../../src/kernel/ids.ts'

const idOf = (slug: string) => {
  const digits = hash('md5', slug)
  return [0, 8, 12, 16, 20].map((from, index, all) => digits.slice(from, all[index + 1])).join('-')
}

/** What there is to ask `fillLargeCatalog` for: nothing, what all have, what some have, what none has. */
export const LARGE_CATALOG = {
  products: 20_000,
  words: [null, 'thing', 'zebra', 'product-1', 'nowhere', 'qq', 'z'],
  tags: [null, 't1', 'rare'],
  categories: [null, idOf('all'), idOf('deep-5'), idOf('leaf-7')],
  /** Price lists: one has all products, one a tenth of them, and one none. */
  priceLists: [idOf('all-priced'), idOf('few-priced'), idOf('none-priced')],
  prices: [
    [null, null],
    [0, 99_999_999],
    [20_000, 20_100]
  ],
  /** Places in the middle of each order. */
  middle: {
    newest: { key: 0, id: '01990000-0010-7000-8000-000000000000' },
    name: { key: 'thing 8', id: HIGHEST_ID },
    price: { key: 16_000, id: HIGHEST_ID },
    '-price': { key: 16_000, id: HIGHEST_ID }
  }
} as const

/**
 * Creates a catalog of 20,000 products or more, the hardest one for lists, in some seconds. All products share a word and
 * nine tags. One category holds everything, with a deep branch and a broad one below it. Many prices are equal, some are
 * missing, and some are discounted. `zebra`, the tag `rare` and the category `leaf-7` are those of a few products.
 */
export async function fillLargeCatalog(
  client: pg.ClientBase,
  products: number = LARGE_CATALOG.products
): Promise<void> {
  await client.query(`
    insert into catalog.categories (id, parent_id, slug, name, position, path) values
      (md5('all')::uuid, null, 'all', 'All', 0, array[md5('all')::uuid]);
    with recursive branch as (
      select 1 as level, path from catalog.categories where slug = 'all'
      union all
      select level + 1, path || md5('deep-' || level + 1)::uuid from branch where level < 10
    )
    insert into catalog.categories (id, parent_id, slug, name, position, path)
    select path[level], path[level - 1], 'deep-' || level, 'Deep ' || level, level, path from branch where level > 1;
    insert into catalog.categories (id, parent_id, slug, name, position, path)
    select md5('leaf-' || i)::uuid, md5('all')::uuid, 'leaf-' || i, 'Leaf ' || i, i,
      array[md5('all'), md5('leaf-' || i)]::uuid[]
    from generate_series(1, 400) i`)
  await client.query(`
    insert into catalog.products (id, slug, name, description, brand, status, tags, options, images, search_text, metadata)
    select
      ('01990000-' || substr(numbered, 1, 4) || '-7' || substr(numbered, 5) || '-8000-' || substr(md5(numbered), 1, 12))::uuid,
      'product-' || i, name, repeat('words ', 40), 'Brand', case when i % 50 = 0 then 'draft' else 'active' end,
      array['t1', 't2', 't3', 't4', 't5', 't6', 't7', 't8', 't9'] || case when i % 700 = 1 then '{rare}'::text[] else '{}' end,
      '[]', '[{"url": "https://images.example.com/product.jpg", "alt": null}]', lower(name || E'\\nBrand'),
      case when i % 1000 = 7 then '{ "line": "rare" }' when i % 3 = 0 then '{ "line": "common" }' else '{}' end::jsonb
    from (
      select i, lpad(i::text, 7, '0') as numbered,
        'Thing ' || substr(md5(i::text), 1, 6) || case when i % 900 = 1 then ' zebra' else '' end as name
      from generate_series(1, ${Math.trunc(products)}) i
    ) numbers`)
  await client.query(`
    insert into catalog.variants (id, product_id, sku, name, price_minor, currency, attributes, active, position)
    select gen_random_uuid(), id, upper(slug) || '-' || v, name || ' ' || v,
      1000 + abs(hashtext(slug)) % 300 * 100 + v * 10, 'USD', '{}', abs(hashtext(slug)) % 20 > 0, v
    from catalog.products cross join generate_series(1, 3) v;
    insert into catalog.product_categories (product_id, category_id)
    select id, md5('leaf-' || (1 + abs(hashtext(slug)) % 400))::uuid from catalog.products
    union
    select id, md5('deep-' || (2 + abs(hashtext(slug)) / 3 % 9))::uuid from catalog.products where hashtext(slug) % 3 = 0;
    insert into catalog.discounts (id, name, percentage_ppm, currency, product_id, category_id, starts_at, active)
    select gen_random_uuid(), 'Less', 100000, 'USD', id, null, now() - interval '1 day', true
    from catalog.products where hashtext(slug) % 100 = 7
    union all
    select gen_random_uuid(), 'Less', 200000, 'USD', null, id, now() - interval '1 day', true
    from catalog.categories where slug in ('leaf-7', 'deep-10');
    with discounted as materialized (
      select product_id from catalog.discounts where product_id is not null
      union
      select product_categories.product_id from catalog.discounts join catalog.product_categories using (category_id)
    ), priced as (
      select product_id, currency, min(price_minor) as lowest_price_minor,
        min(price_minor) as lowest_full_price_minor, count(*)::int as variant_count
      from catalog.variants
      where active and product_id not in (select product_id from discounted)
      group by product_id, currency
      union all
      select product_id, currency, lowest_price_minor, lowest_full_price_minor, variant_count
      from catalog.lowest_prices
      where product_id in (select product_id from discounted)
    )
    update catalog.products set
      lowest_price_minor = priced.lowest_price_minor, lowest_price_currency = priced.currency,
      lowest_full_price_minor = priced.lowest_full_price_minor,
      variant_count = coalesce(priced.variant_count, 0), sku_text = list_columns.sku_text,
      category_ids = list_columns.category_ids, in_stock = list_columns.in_stock
    from catalog.list_columns left join priced on priced.product_id = list_columns.product_id
    where list_columns.product_id = products.id`)
  await client.query(`
    insert into catalog.list_prices (
      product_id, list_id, lowest_price_currency, lowest_price_minor, lowest_full_price_minor, variant_count)
    select id, md5(list)::uuid, 'GBP', lowest_price_minor + 7, lowest_full_price_minor + 7, variant_count
    from catalog.products cross join (values ('all-priced'), ('few-priced')) lists (list)
    where lowest_price_minor is not null and (list = 'all-priced' or hashtext('p' || slug) % 10 = 0)`)
  // Its own tables alone: a vacuum of all would wait for those of other databases at the catalogs that a server shares.
  await client.query(`vacuum analyze catalog.categories, catalog.products, catalog.variants, catalog.product_categories,
    catalog.discounts, catalog.list_prices`)
}
