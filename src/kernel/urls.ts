export const HTTP_URL_MESSAGE = 'must be a URL such as https://shop.example.com'
/** Whether the text is a valid http or https URL. */
export const isHttpUrl = (text: string): boolean => /^https?:\/\/[^/]/.test(text) && URL.canParse(text)
