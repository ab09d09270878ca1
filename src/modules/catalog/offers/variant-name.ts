/** What tells a variant from others of its product; empty where that is the name of the product. */
export const variantNameOf = (row: { name: string; variant_name: string }): string =>
  row.variant_name === row.name ? '' : row.variant_name
