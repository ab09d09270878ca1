/** The columns of a file of stock, in their order. */
export const COLUMNS = [
  'variant_id',
  'sku',
  'location',
  'on_hand',
  'safety',
  'tracked',
  'backorder',
  'backorder_limit',
  'low_threshold',
  'reserved',
  'available'
] as const
