import { integerSetting, settingsSection } from '../../kernel/settings.ts'

export const inventorySettings = settingsSection('Stock.', {
  queue_max: integerSetting(
    'Maximum number of stock changes that wait in a process. Further ones are rejected with 503.',
    20_000,
    1,
    200_000
  )
})
