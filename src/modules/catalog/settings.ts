import { count, section } from '../../kernel/settings.ts'

export const catalogSettings = section('The catalog.', {
  offers_bytes_max: count(
    'Memory for cached offers of variants in this process, in bytes.',
    134_217_728,
    0,
    8_589_934_592
  ),
  page_cache_seconds: count(
    'How long product pages and lists may be cached; edits drop them at once.',
    60,
    0,
    86_400
  )
})
