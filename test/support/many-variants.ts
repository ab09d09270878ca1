import { runSql } from './sql.ts'

/** Inserts so many variants on sale, five of a product, which are always available. Returns their ids. */
export async function insertVariants(databaseUrl: string, count: number): Promise<string[]> {
  const rows = await runSql(
    databaseUrl,
    `with products as (
       insert into catalog.products (id, slug, name, description, brand, status, tags, options, images, search_text)
       select gen_random_uuid(), 'product-' || i, 'Product number ' || i, repeat('words ', 40), 'Brand', 'active', '{}',
         '[]', '[{"url": "https://images.example.com/product.jpg", "alt": null}]', 'product number ' || i
       from generate_series(1, $1::int / 5) i
       returning id, slug, name
     )
     insert into catalog.variants (id, product_id, sku, name, price_minor, currency, attributes, active, position)
     select gen_random_uuid(), id, slug || '-' || i, name || ' ' || i, 1000 + i * 100, 'USD',
       jsonb_build_object('Colour', 'Blue', 'Size', i::text), true, i
     from products, generate_series(1, 5) i
     returning id`,
    [count]
  )
  return rows.map(({ id }) => id as string)
}
