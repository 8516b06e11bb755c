// English texts for tests that run parts of the console without a browser.

import { showLanguage } from '../../../console/src/language.ts';

await showLanguage('en');
