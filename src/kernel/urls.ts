export const HTTP_URL_WORDS = 'must be a URL such as https://shop.example.com'
/** Whether a text is a URL that can be requested. */
export const isHttpUrl = (text: string): boolean => /^https?:\/\/[^/]/.test(text) && URL.canParse(text)
