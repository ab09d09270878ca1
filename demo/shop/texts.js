import { de } from './de.js'
import { en } from './en.js'
import { chosenLanguage } from './storage.js'

const TEXTS = { en, de }
const preferredCodes = [chosenLanguage.get(), ...navigator.languages.map(tag => tag.split('-')[0])]

/** The chosen language, or the first language of the browser with texts, or English. */
export const language = preferredCodes.find(code => code in TEXTS) ?? 'en'
export const t = TEXTS[language]
export const languages = Object.entries(TEXTS).map(([code, { name }]) => ({ code, name }))

/** Locale for numbers, dates and country names: that of the browser, if it has the same language, because it has a region. */
export const locale = navigator.languages.find(tag => tag.split('-')[0] === language) ?? language

export const formatDate = at => new Date(at).toLocaleDateString(locale, { dateStyle: 'medium' })
export const formatTime = at =>
  new Date(at).toLocaleString(locale, { dateStyle: 'medium', timeStyle: 'short' })
