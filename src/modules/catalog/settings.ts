import { integerSetting, settingsSection } from '../../kernel/settings.ts'

export const catalogSettings = settingsSection('Catalog.', {
  offers_bytes_max: integerSetting(
    'Memory of a process for cached offers of variants, in bytes.',
    134_217_728,
    0,
    8_589_934_592
  ),
  page_cache_seconds: integerSetting(
    'Seconds that product pages and lists are cached. A change invalidates them immediately.',
    60,
    0,
    86_400
  ),
  shared_cache_seconds: integerSetting(
    'Seconds that a CDN may send product pages, lists and categories again without asking the shop. A receiver of webhooks must purge them from the CDN. Stock and ratings in them can be that old, plus 10 seconds. 0: a CDN asks the shop each time.',
    0,
    0,
    86_400
  )
})
