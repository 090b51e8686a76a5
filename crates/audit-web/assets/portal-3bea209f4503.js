var ie=globalThis,se=ie.ShadowRoot&&(ie.ShadyCSS===void 0||ie.ShadyCSS.nativeShadow)&&"adoptedStyleSheets"in Document.prototype&&"replace"in CSSStyleSheet.prototype,$e=Symbol(),Ge=new WeakMap,J=class{constructor(t,e,i){if(this._$cssResult$=!0,i!==$e)throw Error("CSSResult is not constructable. Use `unsafeCSS` or `css` instead.");this.cssText=t,this.t=e}get styleSheet(){let t=this.o,e=this.t;if(se&&t===void 0){let i=e!==void 0&&e.length===1;i&&(t=Ge.get(e)),t===void 0&&((this.o=t=new CSSStyleSheet).replaceSync(this.cssText),i&&Ge.set(e,t))}return t}toString(){return this.cssText}},Xe=n=>new J(typeof n=="string"?n:n+"",void 0,$e),y=(n,...t)=>{let e=n.length===1?n[0]:t.reduce((i,s,r)=>i+(o=>{if(o._$cssResult$===!0)return o.cssText;if(typeof o=="number")return o;throw Error("Value passed to 'css' function must be a 'css' function result: "+o+". Use 'unsafeCSS' to pass non-literal values, but take care to ensure page security.")})(s)+n[r+1],n[0]);return new J(e,n,$e)},Ye=(n,t)=>{if(se)n.adoptedStyleSheets=t.map(e=>e instanceof CSSStyleSheet?e:e.styleSheet);else for(let e of t){let i=document.createElement("style"),s=ie.litNonce;s!==void 0&&i.setAttribute("nonce",s),i.textContent=e.cssText,n.appendChild(i)}},ke=se?n=>n:n=>n instanceof CSSStyleSheet?(t=>{let e="";for(let i of t.cssRules)e+=i.cssText;return Xe(e)})(n):n;var{is:Jt,defineProperty:Kt,getOwnPropertyDescriptor:Wt,getOwnPropertyNames:qt,getOwnPropertySymbols:Zt,getPrototypeOf:Gt}=Object,ne=globalThis,Qe=ne.trustedTypes,Xt=Qe?Qe.emptyScript:"",Yt=ne.reactiveElementPolyfillSupport,K=(n,t)=>n,_e={toAttribute(n,t){switch(t){case Boolean:n=n?Xt:null;break;case Object:case Array:n=n==null?n:JSON.stringify(n)}return n},fromAttribute(n,t){let e=n;switch(t){case Boolean:e=n!==null;break;case Number:e=n===null?null:Number(n);break;case Object:case Array:try{e=JSON.parse(n)}catch{e=null}}return e}},tt=(n,t)=>!Jt(n,t),et={attribute:!0,type:String,converter:_e,reflect:!1,useDefault:!1,hasChanged:tt};Symbol.metadata??=Symbol("metadata"),ne.litPropertyMetadata??=new WeakMap;var E=class extends HTMLElement{static addInitializer(t){this._$Ei(),(this.l??=[]).push(t)}static get observedAttributes(){return this.finalize(),this._$Eh&&[...this._$Eh.keys()]}static createProperty(t,e=et){if(e.state&&(e.attribute=!1),this._$Ei(),this.prototype.hasOwnProperty(t)&&((e=Object.create(e)).wrapped=!0),this.elementProperties.set(t,e),!e.noAccessor){let i=Symbol(),s=this.getPropertyDescriptor(t,i,e);s!==void 0&&Kt(this.prototype,t,s)}}static getPropertyDescriptor(t,e,i){let{get:s,set:r}=Wt(this.prototype,t)??{get(){return this[e]},set(o){this[e]=o}};return{get:s,set(o){let a=s?.call(this);r?.call(this,o),this.requestUpdate(t,a,i)},configurable:!0,enumerable:!0}}static getPropertyOptions(t){return this.elementProperties.get(t)??et}static _$Ei(){if(this.hasOwnProperty(K("elementProperties")))return;let t=Gt(this);t.finalize(),t.l!==void 0&&(this.l=[...t.l]),this.elementProperties=new Map(t.elementProperties)}static finalize(){if(this.hasOwnProperty(K("finalized")))return;if(this.finalized=!0,this._$Ei(),this.hasOwnProperty(K("properties"))){let e=this.properties,i=[...qt(e),...Zt(e)];for(let s of i)this.createProperty(s,e[s])}let t=this[Symbol.metadata];if(t!==null){let e=litPropertyMetadata.get(t);if(e!==void 0)for(let[i,s]of e)this.elementProperties.set(i,s)}this._$Eh=new Map;for(let[e,i]of this.elementProperties){let s=this._$Eu(e,i);s!==void 0&&this._$Eh.set(s,e)}this.elementStyles=this.finalizeStyles(this.styles)}static finalizeStyles(t){let e=[];if(Array.isArray(t)){let i=new Set(t.flat(1/0).reverse());for(let s of i)e.unshift(ke(s))}else t!==void 0&&e.push(ke(t));return e}static _$Eu(t,e){let i=e.attribute;return i===!1?void 0:typeof i=="string"?i:typeof t=="string"?t.toLowerCase():void 0}constructor(){super(),this._$Ep=void 0,this.isUpdatePending=!1,this.hasUpdated=!1,this._$Em=null,this._$Ev()}_$Ev(){this._$ES=new Promise(t=>this.enableUpdating=t),this._$AL=new Map,this._$E_(),this.requestUpdate(),this.constructor.l?.forEach(t=>t(this))}addController(t){(this._$EO??=new Set).add(t),this.renderRoot!==void 0&&this.isConnected&&t.hostConnected?.()}removeController(t){this._$EO?.delete(t)}_$E_(){let t=new Map,e=this.constructor.elementProperties;for(let i of e.keys())this.hasOwnProperty(i)&&(t.set(i,this[i]),delete this[i]);t.size>0&&(this._$Ep=t)}createRenderRoot(){let t=this.shadowRoot??this.attachShadow(this.constructor.shadowRootOptions);return Ye(t,this.constructor.elementStyles),t}connectedCallback(){this.renderRoot??=this.createRenderRoot(),this.enableUpdating(!0),this._$EO?.forEach(t=>t.hostConnected?.())}enableUpdating(t){}disconnectedCallback(){this._$EO?.forEach(t=>t.hostDisconnected?.())}attributeChangedCallback(t,e,i){this._$AK(t,i)}_$ET(t,e){let i=this.constructor.elementProperties.get(t),s=this.constructor._$Eu(t,i);if(s!==void 0&&i.reflect===!0){let r=(i.converter?.toAttribute!==void 0?i.converter:_e).toAttribute(e,i.type);this._$Em=t,r==null?this.removeAttribute(s):this.setAttribute(s,r),this._$Em=null}}_$AK(t,e){let i=this.constructor,s=i._$Eh.get(t);if(s!==void 0&&this._$Em!==s){let r=i.getPropertyOptions(s),o=typeof r.converter=="function"?{fromAttribute:r.converter}:r.converter?.fromAttribute!==void 0?r.converter:_e;this._$Em=s;let a=o.fromAttribute(e,r.type);this[s]=a??this._$Ej?.get(s)??a,this._$Em=null}}requestUpdate(t,e,i,s=!1,r){if(t!==void 0){let o=this.constructor;if(s===!1&&(r=this[t]),i??=o.getPropertyOptions(t),!((i.hasChanged??tt)(r,e)||i.useDefault&&i.reflect&&r===this._$Ej?.get(t)&&!this.hasAttribute(o._$Eu(t,i))))return;this.C(t,e,i)}this.isUpdatePending===!1&&(this._$ES=this._$EP())}C(t,e,{useDefault:i,reflect:s,wrapped:r},o){i&&!(this._$Ej??=new Map).has(t)&&(this._$Ej.set(t,o??e??this[t]),r!==!0||o!==void 0)||(this._$AL.has(t)||(this.hasUpdated||i||(e=void 0),this._$AL.set(t,e)),s===!0&&this._$Em!==t&&(this._$Eq??=new Set).add(t))}async _$EP(){this.isUpdatePending=!0;try{await this._$ES}catch(e){Promise.reject(e)}let t=this.scheduleUpdate();return t!=null&&await t,!this.isUpdatePending}scheduleUpdate(){return this.performUpdate()}performUpdate(){if(!this.isUpdatePending)return;if(!this.hasUpdated){if(this.renderRoot??=this.createRenderRoot(),this._$Ep){for(let[s,r]of this._$Ep)this[s]=r;this._$Ep=void 0}let i=this.constructor.elementProperties;if(i.size>0)for(let[s,r]of i){let{wrapped:o}=r,a=this[s];o!==!0||this._$AL.has(s)||a===void 0||this.C(s,void 0,r,a)}}let t=!1,e=this._$AL;try{t=this.shouldUpdate(e),t?(this.willUpdate(e),this._$EO?.forEach(i=>i.hostUpdate?.()),this.update(e)):this._$EM()}catch(i){throw t=!1,this._$EM(),i}t&&this._$AE(e)}willUpdate(t){}_$AE(t){this._$EO?.forEach(e=>e.hostUpdated?.()),this.hasUpdated||(this.hasUpdated=!0,this.firstUpdated(t)),this.updated(t)}_$EM(){this._$AL=new Map,this.isUpdatePending=!1}get updateComplete(){return this.getUpdateComplete()}getUpdateComplete(){return this._$ES}shouldUpdate(t){return!0}update(t){this._$Eq&&=this._$Eq.forEach(e=>this._$ET(e,this[e])),this._$EM()}updated(t){}firstUpdated(t){}};E.elementStyles=[],E.shadowRootOptions={mode:"open"},E[K("elementProperties")]=new Map,E[K("finalized")]=new Map,Yt?.({ReactiveElement:E}),(ne.reactiveElementVersions??=[]).push("2.1.2");var Oe=globalThis,it=n=>n,re=Oe.trustedTypes,st=re?re.createPolicy("lit-html",{createHTML:n=>n}):void 0,dt="$lit$",S=`lit$${Math.random().toFixed(9).slice(2)}$`,ct="?"+S,Qt=`<${ct}>`,R=document,q=()=>R.createComment(""),Z=n=>n===null||typeof n!="object"&&typeof n!="function",Re=Array.isArray,ei=n=>Re(n)||typeof n?.[Symbol.iterator]=="function",Ee=`[ 	
\f\r]`,W=/<(?:(!--|\/[^a-zA-Z])|(\/?[a-zA-Z][^>\s]*)|(\/?$))/g,nt=/-->/g,rt=/>/g,C=RegExp(`>|${Ee}(?:([^\\s"'>=/]+)(${Ee}*=${Ee}*(?:[^ 	
\f\r"'\`<>=]|("|')|))|$)`,"g"),ot=/'/g,at=/"/g,ht=/^(?:script|style|textarea|title)$/i,Fe=n=>(t,...e)=>({_$litType$:n,strings:t,values:e}),d=Fe(1),oe=Fe(2),Yi=Fe(3),F=Symbol.for("lit-noChange"),h=Symbol.for("lit-nothing"),lt=new WeakMap,O=R.createTreeWalker(R,129);function ut(n,t){if(!Re(n)||!n.hasOwnProperty("raw"))throw Error("invalid template strings array");return st!==void 0?st.createHTML(t):t}var ti=(n,t)=>{let e=n.length-1,i=[],s,r=t===2?"<svg>":t===3?"<math>":"",o=W;for(let a=0;a<e;a++){let l=n[a],c,p,u=-1,m=0;for(;m<l.length&&(o.lastIndex=m,p=o.exec(l),p!==null);)m=o.lastIndex,o===W?p[1]==="!--"?o=nt:p[1]!==void 0?o=rt:p[2]!==void 0?(ht.test(p[2])&&(s=RegExp("</"+p[2],"g")),o=C):p[3]!==void 0&&(o=C):o===C?p[0]===">"?(o=s??W,u=-1):p[1]===void 0?u=-2:(u=o.lastIndex-p[2].length,c=p[1],o=p[3]===void 0?C:p[3]==='"'?at:ot):o===at||o===ot?o=C:o===nt||o===rt?o=W:(o=C,s=void 0);let g=o===C&&n[a+1].startsWith("/>")?" ":"";r+=o===W?l+Qt:u>=0?(i.push(c),l.slice(0,u)+dt+l.slice(u)+S+g):l+S+(u===-2?a:g)}return[ut(n,r+(n[e]||"<?>")+(t===2?"</svg>":t===3?"</math>":"")),i]},G=class n{constructor({strings:t,_$litType$:e},i){let s;this.parts=[];let r=0,o=0,a=t.length-1,l=this.parts,[c,p]=ti(t,e);if(this.el=n.createElement(c,i),O.currentNode=this.el.content,e===2||e===3){let u=this.el.content.firstChild;u.replaceWith(...u.childNodes)}for(;(s=O.nextNode())!==null&&l.length<a;){if(s.nodeType===1){if(s.hasAttributes())for(let u of s.getAttributeNames())if(u.endsWith(dt)){let m=p[o++],g=s.getAttribute(u).split(S),L=/([.?@])?(.*)/.exec(m);l.push({type:1,index:r,name:L[2],strings:g,ctor:L[1]==="."?Se:L[1]==="?"?Te:L[1]==="@"?Pe:I}),s.removeAttribute(u)}else u.startsWith(S)&&(l.push({type:6,index:r}),s.removeAttribute(u));if(ht.test(s.tagName)){let u=s.textContent.split(S),m=u.length-1;if(m>0){s.textContent=re?re.emptyScript:"";for(let g=0;g<m;g++)s.append(u[g],q()),O.nextNode(),l.push({type:2,index:++r});s.append(u[m],q())}}}else if(s.nodeType===8)if(s.data===ct)l.push({type:2,index:r});else{let u=-1;for(;(u=s.data.indexOf(S,u+1))!==-1;)l.push({type:7,index:r}),u+=S.length-1}r++}}static createElement(t,e){let i=R.createElement("template");return i.innerHTML=t,i}};function U(n,t,e=n,i){if(t===F)return t;let s=i!==void 0?e._$Co?.[i]:e._$Cl,r=Z(t)?void 0:t._$litDirective$;return s?.constructor!==r&&(s?._$AO?.(!1),r===void 0?s=void 0:(s=new r(n),s._$AT(n,e,i)),i!==void 0?(e._$Co??=[])[i]=s:e._$Cl=s),s!==void 0&&(t=U(n,s._$AS(n,t.values),s,i)),t}var Ae=class{constructor(t,e){this._$AV=[],this._$AN=void 0,this._$AD=t,this._$AM=e}get parentNode(){return this._$AM.parentNode}get _$AU(){return this._$AM._$AU}u(t){let{el:{content:e},parts:i}=this._$AD,s=(t?.creationScope??R).importNode(e,!0);O.currentNode=s;let r=O.nextNode(),o=0,a=0,l=i[0];for(;l!==void 0;){if(o===l.index){let c;l.type===2?c=new X(r,r.nextSibling,this,t):l.type===1?c=new l.ctor(r,l.name,l.strings,this,t):l.type===6&&(c=new Ce(r,this,t)),this._$AV.push(c),l=i[++a]}o!==l?.index&&(r=O.nextNode(),o++)}return O.currentNode=R,s}p(t){let e=0;for(let i of this._$AV)i!==void 0&&(i.strings!==void 0?(i._$AI(t,i,e),e+=i.strings.length-2):i._$AI(t[e])),e++}},X=class n{get _$AU(){return this._$AM?._$AU??this._$Cv}constructor(t,e,i,s){this.type=2,this._$AH=h,this._$AN=void 0,this._$AA=t,this._$AB=e,this._$AM=i,this.options=s,this._$Cv=s?.isConnected??!0}get parentNode(){let t=this._$AA.parentNode,e=this._$AM;return e!==void 0&&t?.nodeType===11&&(t=e.parentNode),t}get startNode(){return this._$AA}get endNode(){return this._$AB}_$AI(t,e=this){t=U(this,t,e),Z(t)?t===h||t==null||t===""?(this._$AH!==h&&this._$AR(),this._$AH=h):t!==this._$AH&&t!==F&&this._(t):t._$litType$!==void 0?this.$(t):t.nodeType!==void 0?this.T(t):ei(t)?this.k(t):this._(t)}O(t){return this._$AA.parentNode.insertBefore(t,this._$AB)}T(t){this._$AH!==t&&(this._$AR(),this._$AH=this.O(t))}_(t){this._$AH!==h&&Z(this._$AH)?this._$AA.nextSibling.data=t:this.T(R.createTextNode(t)),this._$AH=t}$(t){let{values:e,_$litType$:i}=t,s=typeof i=="number"?this._$AC(t):(i.el===void 0&&(i.el=G.createElement(ut(i.h,i.h[0]),this.options)),i);if(this._$AH?._$AD===s)this._$AH.p(e);else{let r=new Ae(s,this),o=r.u(this.options);r.p(e),this.T(o),this._$AH=r}}_$AC(t){let e=lt.get(t.strings);return e===void 0&&lt.set(t.strings,e=new G(t)),e}k(t){Re(this._$AH)||(this._$AH=[],this._$AR());let e=this._$AH,i,s=0;for(let r of t)s===e.length?e.push(i=new n(this.O(q()),this.O(q()),this,this.options)):i=e[s],i._$AI(r),s++;s<e.length&&(this._$AR(i&&i._$AB.nextSibling,s),e.length=s)}_$AR(t=this._$AA.nextSibling,e){for(this._$AP?.(!1,!0,e);t!==this._$AB;){let i=it(t).nextSibling;it(t).remove(),t=i}}setConnected(t){this._$AM===void 0&&(this._$Cv=t,this._$AP?.(t))}},I=class{get tagName(){return this.element.tagName}get _$AU(){return this._$AM._$AU}constructor(t,e,i,s,r){this.type=1,this._$AH=h,this._$AN=void 0,this.element=t,this.name=e,this._$AM=s,this.options=r,i.length>2||i[0]!==""||i[1]!==""?(this._$AH=Array(i.length-1).fill(new String),this.strings=i):this._$AH=h}_$AI(t,e=this,i,s){let r=this.strings,o=!1;if(r===void 0)t=U(this,t,e,0),o=!Z(t)||t!==this._$AH&&t!==F,o&&(this._$AH=t);else{let a=t,l,c;for(t=r[0],l=0;l<r.length-1;l++)c=U(this,a[i+l],e,l),c===F&&(c=this._$AH[l]),o||=!Z(c)||c!==this._$AH[l],c===h?t=h:t!==h&&(t+=(c??"")+r[l+1]),this._$AH[l]=c}o&&!s&&this.j(t)}j(t){t===h?this.element.removeAttribute(this.name):this.element.setAttribute(this.name,t??"")}},Se=class extends I{constructor(){super(...arguments),this.type=3}j(t){this.element[this.name]=t===h?void 0:t}},Te=class extends I{constructor(){super(...arguments),this.type=4}j(t){this.element.toggleAttribute(this.name,!!t&&t!==h)}},Pe=class extends I{constructor(t,e,i,s,r){super(t,e,i,s,r),this.type=5}_$AI(t,e=this){if((t=U(this,t,e,0)??h)===F)return;let i=this._$AH,s=t===h&&i!==h||t.capture!==i.capture||t.once!==i.once||t.passive!==i.passive,r=t!==h&&(i===h||s);s&&this.element.removeEventListener(this.name,this,i),r&&this.element.addEventListener(this.name,this,t),this._$AH=t}handleEvent(t){typeof this._$AH=="function"?this._$AH.call(this.options?.host??this.element,t):this._$AH.handleEvent(t)}},Ce=class{constructor(t,e,i){this.element=t,this.type=6,this._$AN=void 0,this._$AM=e,this.options=i}get _$AU(){return this._$AM._$AU}_$AI(t){U(this,t)}};var ii=Oe.litHtmlPolyfillSupport;ii?.(G,X),(Oe.litHtmlVersions??=[]).push("3.3.3");var pt=(n,t,e)=>{let i=e?.renderBefore??t,s=i._$litPart$;if(s===void 0){let r=e?.renderBefore??null;i._$litPart$=s=new X(t.insertBefore(q(),r),r,void 0,e??{})}return s._$AI(n),s};var Me=globalThis,v=class extends E{constructor(){super(...arguments),this.renderOptions={host:this},this._$Do=void 0}createRenderRoot(){let t=super.createRenderRoot();return this.renderOptions.renderBefore??=t.firstChild,t}update(t){let e=this.render();this.hasUpdated||(this.renderOptions.isConnected=this.isConnected),super.update(t),this._$Do=pt(e,this.renderRoot,this.renderOptions)}connectedCallback(){super.connectedCallback(),this._$Do?.setConnected(!0)}disconnectedCallback(){super.disconnectedCallback(),this._$Do?.setConnected(!1)}render(){return F}};v._$litElement$=!0,v.finalized=!0,Me.litElementHydrateSupport?.({LitElement:v});var si=Me.litElementPolyfillSupport;si?.({LitElement:v});(Me.litElementVersions??=[]).push("4.2.2");var b=y`
:host {
--bg: var(--audit-background, light-dark(#ffffff, #14181d));
--surface: var(--audit-surface, light-dark(#f6f7f9, #1b2027));
--raised: var(--audit-raised, light-dark(#ffffff, #20262e));
--text: var(--audit-text, light-dark(#1c2430, #e3e8ee));
--muted: var(--audit-muted, light-dark(#5a6675, #9aa6b4));
--border: var(--audit-border, light-dark(#dfe3e8, #323a45));
--control: var(--audit-control-border, light-dark(#858f9b, #6b7785));
--accent: var(--audit-accent, light-dark(#1f5f99, #7db8ee));
--on-accent: var(--audit-on-accent, light-dark(#ffffff, #10202f));
--selected: var(--audit-selected, light-dark(#e8f0f8, #23303d));
--good: var(--audit-good, light-dark(#1c6b3c, #7fd3a0));
--good-bg: var(--audit-good-background, light-dark(#e6f4ea, #17301f));
--bad: var(--audit-bad, light-dark(#a8261f, #ff9d94));
--bad-bg: var(--audit-bad-background, light-dark(#fdebea, #3a1a19));
--warn: var(--audit-warn, light-dark(#7a4b00, #efc070));
--warn-bg: var(--audit-warn-background, light-dark(#fff4de, #33270f));
--auth: var(--audit-category-auth, light-dark(#3576b8, #6aaae8));
--access: var(--audit-category-access, light-dark(#1f8a7d, #4fc0b1));
--mutation: var(--audit-category-mutation, light-dark(#b57a12, #dda94a));
--admin: var(--audit-category-admin, light-dark(#7b58b3, #ae90e0));
--security: var(--audit-category-security, light-dark(#c2423b, #f0837b));
--system: var(--audit-category-system, light-dark(#6d7885, #97a3b0));
--font: var(--audit-font, system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif);
--mono: var(--audit-mono-font, ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, monospace);
--size: var(--audit-font-size, 13px);
--radius: var(--audit-radius, 6px);
font: var(--size) / 1.45 var(--font);
color: var(--text);
}
*, *::before, *::after { box-sizing: border-box; }
[hidden] { display: none !important; }
button, input, select, textarea { font: inherit; color: inherit; }
button, .button {
display: inline-flex; align-items: center; gap: 6px; min-height: 30px; padding: 3px 10px; white-space: nowrap;
border: 1px solid var(--border); border-radius: var(--radius); background: var(--raised); cursor: pointer; text-decoration: none;
color: inherit;
}
button:hover:not(:disabled), .button:hover { background: var(--selected); }
button:disabled { opacity: 0.55; cursor: default; }
button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
button.primary:hover:not(:disabled) { filter: brightness(1.08); background: var(--accent); }
button.danger { color: var(--bad); border-color: currentColor; }
button.plain { border-color: transparent; background: transparent; }
button.icon { padding: 3px 7px; }
button[aria-pressed="true"] { background: var(--selected); border-color: var(--accent); }
input, select, textarea {
min-height: 30px; padding: 3px 8px; border: 1px solid var(--control); border-radius: var(--radius); background: var(--bg);
min-width: 0; max-width: 100%;
}
input[type="checkbox"] { min-height: 0; accent-color: var(--accent); }
textarea { font-family: var(--mono); line-height: 1.5; }
:is(button, input, select, textarea, a, [tabindex], summary):focus-visible {
outline: 2px solid var(--accent); outline-offset: 1px;
}
a { color: var(--accent); }
code, pre, .mono { font-family: var(--mono); font-size: 0.94em; }
.muted { color: var(--muted); }
.visually-hidden {
position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap;
}
.dot { display: inline-block; width: 8px; height: 8px; border-radius: 50%; background: var(--system); flex: none; }
.dot.auth { background: var(--auth); } .dot.access { background: var(--access); } .dot.mutation { background: var(--mutation); }
.dot.admin { background: var(--admin); } .dot.security { background: var(--security); }
.notice { display: flex; flex-wrap: wrap; gap: 8px 12px; align-items: center; padding: 8px 12px; border-radius: var(--radius);
background: var(--warn-bg); color: var(--warn); }
.notice.bad { background: var(--bad-bg); color: var(--bad); }
.notice.good { background: var(--good-bg); color: var(--good); }
@media (prefers-reduced-motion: no-preference) {
.spinner::before { animation: turn 0.9s linear infinite; }
}
.spinner::before {
content: ""; display: inline-block; width: 12px; height: 12px; margin-inline-end: 8px; vertical-align: -1px; border-radius: 50%;
border: 2px solid var(--border); border-top-color: var(--accent);
}
@keyframes turn { to { transform: rotate(1turn); } }
`,ae=y`
:host { color-scheme: light dark; }
:host([theme="light"]) { color-scheme: light; }
:host([theme="dark"]) { color-scheme: dark; }
`;var ni=/-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y,ri=/"(?:[^"\\\u0000-\u001f]|\\.)*"/sy,Ne=/[ \t\n\r]*/y;function ft(n){return new Le(n).document()}var Le=class{constructor(t){this.text=t}text;#e=0;document(){let t=this.#r(0);return this.#s(Ne),this.#e!==this.text.length&&this.#t(),t}#t(){throw new SyntaxError(`not JSON at character ${this.#e}`)}#s(t){t.lastIndex=this.#e;let e=t.exec(this.text)?.[0];return e!==void 0&&(this.#e+=e.length),e}#i(){return this.#s(Ne),this.text[this.#e]}#n(t){this.#i()!==t&&this.#t(),this.#e+=1}#r(t){switch(t>200&&this.#t(),this.#i()){case"{":return this.#d(t);case"[":return this.#l(t);case'"':return this.#o();default:return this.#a()}}#o(){let t=this.#s(ri);return t===void 0?this.#t():JSON.parse(t)}#a(){for(let[i,s]of[["null",null],["true",!0],["false",!1]])if(this.text.startsWith(i,this.#e))return this.#e+=i.length,s;let t=this.#s(ni);if(t===void 0)return this.#t();let e=Number(t);return/^-?[0-9]+$/.test(t)&&!Number.isSafeInteger(e)?BigInt(t):e}#l(t){let e=[];if(this.#n("["),this.#i()==="]")return this.#e+=1,e;for(;e.push(this.#r(t+1)),this.#i()===",";)this.#e+=1;return this.#n("]"),e}#d(t){let e={};if(this.#n("{"),this.#i()==="}")return this.#e+=1,e;for(;;){this.#s(Ne);let i=this.#o();this.#n(":");let s=this.#r(t+1);if(Object.hasOwn(e,i)&&this.#t(),Object.defineProperty(e,i,{value:s,writable:!0,enumerable:!0,configurable:!0}),this.#i()!==",")break;this.#e+=1}return this.#n("}"),e}};function le(n){if(typeof n=="bigint")return n.toString();if(Array.isArray(n))return`[${n.map(le).join(",")}]`;if(typeof n=="object"&&n!==null){let t=n;return`{${Object.keys(t).filter(i=>t[i]!==void 0).sort().map(i=>`${JSON.stringify(i)}:${le(t[i])}`).join(",")}}`}return JSON.stringify(n)??"null"}function mt(n){return/\d{16}/.test(n)?ft(n):JSON.parse(n)}function D(n,t=""){if(n===void 0)return"";if(typeof n=="bigint")return n.toString();if(n===null||typeof n!="object")return JSON.stringify(n);let e=`${t}  `,i=Array.isArray(n),s=i?n.map(a=>D(a,e)):Object.entries(n).map(([a,l])=>`${JSON.stringify(a)}: ${D(l,e)}`),[r,o]=i?["[","]"]:["{","}"];return s.length===0?r+o:`${r}
${e}${s.join(`,
${e}`)}
${t}${o}`}function Ue(n){return typeof n=="string"?n:D(n).replace(/\n\s*/g," ")}var de=class extends v{static{this.properties={event:{attribute:!1},api:{attribute:!1},pinnedKey:{attribute:!1},formats:{attribute:!1},isRaw:{state:!0},copied:{state:!0}}}static{this.styles=[b,y`
:host { display: flex; flex-direction: column; min-height: 0; background: var(--bg); }
header { display: flex; gap: 8px; align-items: flex-start; padding: 12px 16px; border-bottom: 1px solid var(--border); }
header > div:first-child { flex: 1; min-width: 0; }
h3 { margin: 0; font-size: 1.12em; overflow-wrap: anywhere; }
.buttons { display: flex; gap: 4px; }
.body { flex: 1; overflow: auto; padding: 4px 16px 20px; min-height: 0; }
section { margin-top: 16px; }
h4 { margin: 0 0 6px; font-size: 0.86em; font-weight: 600; color: var(--muted); }
dl { display: grid; grid-template-columns: minmax(92px, auto) 1fr; gap: 3px 12px; margin: 0; }
dt { color: var(--muted); }
dd { margin: 0; min-width: 0; overflow-wrap: anywhere; white-space: pre-wrap; }
button.value { min-height: 0; padding: 0 3px; margin-inline-start: -3px; border: 0; background: none; text-align: start;
white-space: pre-wrap; overflow-wrap: anywhere; text-decoration: underline dotted; text-underline-offset: 3px; display: inline; }
table { width: 100%; border-collapse: collapse; table-layout: fixed; }
th, td { padding: 5px 8px; text-align: start; vertical-align: top; border: 1px solid var(--border); overflow-wrap: anywhere; }
th { font-weight: 600; background: var(--surface); }
td { white-space: pre-wrap; }
td.before { background: var(--bad-bg); } td.after { background: var(--good-bg); }
pre { margin: 8px 0 0; padding: 10px; overflow: auto; background: var(--surface); border: 1px solid var(--border);
border-radius: var(--radius); white-space: pre-wrap; overflow-wrap: anywhere; max-height: 60vh; }
.notice { margin-top: 12px; }
`]}constructor(){super(),this.isRaw=!1,this.copied=""}willUpdate(t){t.has("event")&&(this.copied="")}focus(){this.renderRoot.querySelector("h3")?.focus()}render(){let{event:t,formats:e}=this,{messages:i}=e,{actor:s,target:r,context:o}=t;return d`
<header part="details-header">
<div>
<h3 tabindex="-1">${t.action??t.id}</h3>
<span class="muted">${this.sentence()}</span>
</div>
<div class="buttons">
<button class="plain icon" aria-label=${i.previousEvent} title=${i.previousEvent} @click=${()=>this.step(-1)}>↑</button>
<button class="plain icon" aria-label=${i.nextEvent} title=${i.nextEvent} @click=${()=>this.step(1)}>↓</button>
<button class="plain icon" aria-label=${i.close} title=${i.close} @click=${()=>this.dispatchEvent(new CustomEvent("close"))}>✕</button>
</div>
</header>
<div class="body" tabindex="0" role="group" aria-label=${i.details}>
<section aria-label=${i.proof.title}>
<audit-log-proof .event=${t} .api=${this.api} .pinnedKey=${this.pinnedKey} .formats=${e} exportparts="proof"></audit-log-proof>
</section>
${t.redacted?d`<p class="notice">${i.redacted}</p>`:h}
        <section>
          <dl>
            ${this.row(i.occurredAt,e.full(t.occurred_at))} ${this.row(i.receivedAt,e.full(t.received_at))}
            ${this.row(i.category,t.category&&(i.categories[t.category]??t.category),"category",t.category)}
            ${this.row(i.action,t.action,"action")} ${this.row(i.tenant,t.tenant_id,"tenant_id")}
          </dl>
        </section>
        ${this.changes(t.changes)}
        ${this.section(i.actor,[this.row(i.name,s?.name),this.row(i.id,s?.id,"actor_id"),this.row(i.email,s?.email),this.row(i.type,s?.type&&(i.actorTypes[s.type]??s.type),"actor_type",s?.type)],s)}
        ${this.section(i.target,[this.row(i.name,r?.name),this.row(i.id,r?.id,"target_id"),this.row(i.type,r?.type,"target_type")],r)}
        ${this.section(i.context,[this.row(i.ipAddress,o?.ip_address),this.row(i.location,o?.location),this.row(i.userAgent,o?.user_agent),this.row(i.session,o?.session_id)],o)}
        ${this.section(i.metadata,oi(t.metadata).map(([a,l])=>this.row(a,l)),t.metadata)}
        <section>
          <dl>${this.row(i.id,t.id)} ${this.row(i.contentHash,t.content_hash)}</dl>
        </section>
        <section>
          <button aria-expanded=${this.isRaw} @click=${()=>this.isRaw=!this.isRaw}>${this.isRaw?i.hideJson:i.rawJson}</button>
          <button @click=${()=>this.copy(D(t))}>${this.copied?i.copied:i.copyJson}</button>
          <span class="visually-hidden" role="status">${this.copied}</span>
          ${this.isRaw?d`<pre tabindex="0" aria-label=${i.rawJson}>${D(t)}</pre>`:h}
        </section>
      </div>
    `}sentence(){let{actor:t,target:e,occurred_at:i}=this.event,s=t?.name??t?.id,r=e?.name??e?.id,o=this.formats.relative(i,Date.now());return[r?`${s??"?"} → ${r}`:s,o].filter(Boolean).join(" · ")}step(t){this.dispatchEvent(new CustomEvent("step",{detail:t}))}section(t,e,i){return i&&Object.keys(i).length>0?d`<section><h4>${t}</h4><dl>${e}</dl></section>`:h}row(t,e,i,s=e){if(e===void 0||e==="")return h;let{messages:r}=this.formats,o={field:i,value:s},a=i?d`<button class="value" title=${r.filterBy(t,e)} @click=${()=>this.dispatchEvent(new CustomEvent("filter-by",{detail:o}))}>${e}</button>`:e;return d`<dt>${t}</dt><dd>${a}</dd>`}changes(t){if(!t||t.length===0)return h;let{messages:e}=this.formats,i=s=>s===void 0?d`<span class="muted">${e.absent}</span>`:Ue(s);return d`<section>
<h4>${e.changes}</h4>
<table>
<thead><tr><th scope="col">${e.field}</th><th scope="col">${e.before}</th><th scope="col">${e.after}</th></tr></thead>
<tbody>
${t.map(s=>d`<tr><th scope="row">${s.field}</th><td class="before">${i(s.before)}</td><td class="after">${i(s.after)}</td></tr>`)}
        </tbody>
      </table>
    </section>`}async copy(t){await navigator.clipboard.writeText(t).catch(()=>{}),this.copied=this.formats.messages.copied}};function oi(n){let t=[],e=(i,s)=>{if(!(typeof s=="object"&&s!==null&&!Array.isArray(s)&&Object.keys(s).length>0))return void t.push([i,Ue(s)]);for(let[o,a]of Object.entries(s))e(i?`${i}.${o}`:o,a)};return n&&e("",n),t}var Y=["auth","access","mutation","admin","security","system"];var ce=["search","category","action","actor_id","actor_type","target_id","target_type","tenant_id","start_date","end_date"];function M(n){let t={};for(let e of ce){let i=n[e]?.trim();i&&(t[e]=i)}return t}function gt(n){return Object.keys(M(n)).length===0}function z(n){return M(n)}function vt(n){let{search:t,start_date:e,end_date:i,...s}=M(n);return s}function Q(n){let t=new URLSearchParams(M(n.filter));return n.event&&t.set("event",n.event),t.toString()}function he(n){let t=new URLSearchParams(n.replace(/^#/,"")),e={};for(let s of ce){let r=t.get(s);r&&(e[s]=r)}let i=t.get("event")??"";return{filter:M(e),event:/^evt_[0-9A-Z]{26}$/.test(i)?i:void 0}}function ue(n){return H(n)?.tenant_id}function H(n){let[,t]=n.replace(/^vt_/,"").split(".");if(!(!n.startsWith("vt_")||!t))try{let e=Uint8Array.from(atob(t.replace(/-/g,"+").replace(/_/g,"/")),i=>i.charCodeAt(0));return JSON.parse(new TextDecoder().decode(e))}catch{return}}var ee=class{constructor(t,e,i){this.language=t;this.messages=e;this.isUtc=i;this.buckets=new Map;let s=i?{timeZone:"UTC"}:{};this.absoluteTime=new Intl.DateTimeFormat(t,{...s,year:"numeric",month:"short",day:"2-digit",hour:"2-digit",minute:"2-digit",second:"2-digit",hourCycle:"h23"}),this.fullTime=new Intl.DateTimeFormat(t,{...s,weekday:"short",year:"numeric",month:"short",day:"numeric",hour:"2-digit",minute:"2-digit",second:"2-digit",fractionalSecondDigits:3,timeZoneName:"short",hourCycle:"h23"}),this.relativeTime=new Intl.RelativeTimeFormat(t,{numeric:"auto",style:"short"}),this.numbers=new Intl.NumberFormat(t)}number(t){return this.numbers.format(t)}absolute(t){return this.absoluteTime.format(new Date(t))}full(t){return this.fullTime.format(new Date(t))}relative(t,e){let i=Math.round((Date.parse(t)-e)/1e3),s=Math.abs(i);if(s<10)return this.messages.justNow;let r=[["year",31557600],["month",2629800],["day",86400],["hour",3600],["minute",60],["second",1]],[o,a]=r.find(([,l])=>s>=l)??["second",1];return this.relativeTime.format(Math.trunc(i/a),o)}bucket(t,e){let i=this.buckets.get(e);if(!i){let s={minute:{month:"short",day:"numeric",hour:"2-digit",minute:"2-digit",hourCycle:"h23"},hour:{month:"short",day:"numeric",hour:"2-digit",minute:"2-digit",hourCycle:"h23"},day:{year:"numeric",month:"short",day:"numeric",timeZone:"UTC"},week:{year:"numeric",month:"short",day:"numeric",timeZone:"UTC"},month:{year:"numeric",month:"long",timeZone:"UTC"}},r=this.isUtc?{timeZone:"UTC"}:{};i=new Intl.DateTimeFormat(this.language,{...r,...s[e]}),this.buckets.set(e,i)}return i.format(new Date(t))}bytes(t){let e=t<1e6?"kilobyte":"megabyte",i=t/(e==="kilobyte"?1e3:1e6);return new Intl.NumberFormat(this.language,{style:"unit",unit:e,maximumFractionDigits:1}).format(i)}};function Ie(n,t){let e=new Date(n);if(t==="month")return Date.UTC(e.getUTCFullYear(),e.getUTCMonth()+1,1);let i={minute:6e4,hour:36e5,day:864e5,week:7*864e5};return e.getTime()+i[t]}function yt(n,t){if(!n||Number.isNaN(Date.parse(n)))return"";let e=new Date(n);return(t?e:new Date(e.getTime()-e.getTimezoneOffset()*6e4)).toISOString().slice(0,19)}function bt(n,t,e){if(!n)return;let i=Date.parse(t?`${n}Z`:n);return Number.isNaN(i)?void 0:new Date(i+(e?999:0)).toISOString()}var ai=350,wt={hour:3600,day:86400,week:7*86400,month:30*86400,quarter:90*86400},pe=class extends v{static{this.properties={filter:{attribute:!1},top:{attribute:!1},formats:{attribute:!1},isUtc:{attribute:!1},hasTenants:{attribute:!1},isExpanded:{state:!0},isCustomRange:{state:!0}}}static{this.styles=[b,y`
:host { display: block; }
.row { display: flex; flex-wrap: wrap; gap: 6px 8px; align-items: center; }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); gap: 8px; margin-top: 8px; }
.search { flex: 1 1 180px; }
label { display: flex; flex-direction: column; gap: 2px; min-width: 0; font-size: 0.88em; color: var(--muted); }
label > :is(input, select) { font-size: var(--size); color: var(--text); width: 100%; }
.chips { display: flex; flex-wrap: wrap; gap: 6px; margin-top: 8px; }
.chip { min-height: 26px; padding: 1px 8px; border-radius: 13px; background: var(--selected); border-color: transparent; max-width: 100%; }
.chip span:last-of-type { overflow: hidden; text-overflow: ellipsis; max-width: 260px; }
.dates { display: flex; flex-wrap: wrap; gap: 8px; }
`]}constructor(){super(),this.filter={},this.isUtc=!1,this.hasTenants=!1,this.isExpanded=!1,this.isCustomRange=!1}set(t,e){let i={...this.filter};e?i[t]=e:delete i[t],this.change(i)}change(t){clearTimeout(this.typing),this.filter=t,this.dispatchEvent(new CustomEvent("filter-change",{detail:M(t)}))}onInput(t,e){let{value:i}=e.target;clearTimeout(this.typing),this.typing=setTimeout(()=>this.set(t,i),ai)}onEnter(t,e){e.key==="Enter"&&this.set(t,e.target.value)}rangeName(){let{start_date:t,end_date:e}=this.filter;return this.isCustomRange?"custom":!t&&!e?"all":this.chosen&&!e&&this.chosen.start===t?this.chosen.name:"custom"}onRange(t){let{value:e}=t.target;if(this.isCustomRange=e==="custom",e==="custom")return;let{start_date:i,end_date:s,...r}=this.filter;if(e==="all")return this.change(r);let o=e,a=new Date(Date.now()-wt[o]*1e3).toISOString();this.chosen={name:o,start:a},this.change({...r,start_date:a})}render(){let{messages:t}=this.formats,e=this.rangeName(),i=Object.keys(this.filter).length;return d`
<div class="row" role="search" part="filters">
<input
class="search"
type="search"
aria-label=${t.search}
placeholder=${`${t.search}: ${t.searchHint}`}
          maxlength="256"
          .value=${this.filter.search??""}
          @input=${s=>this.onInput("search",s)}
          @keydown=${s=>this.onEnter("search",s)}
        />
        <select aria-label=${t.category} @change=${s=>this.set("category",s.target.value)}>
          <option value="" ?selected=${!this.filter.category}>${t.allCategories}</option>
          ${Y.map(s=>d`<option value=${s} ?selected=${this.filter.category===s}>${this.categoryLabel(s)}</option>`)}
        </select>
        <select aria-label=${t.range} @change=${this.onRange}>
          ${["all",...Object.keys(wt),"custom"].map(s=>d`<option value=${s} ?selected=${e===s}>${t.ranges[s]}</option>`)}
        </select>
        <button aria-expanded=${this.isExpanded} @click=${()=>this.isExpanded=!this.isExpanded}>
          ${this.isExpanded?t.fewerFilters:t.moreFilters}
        </button>
        ${i>0?d`<button class="plain" @click=${()=>this.clear()}>${t.clearFilters}</button>`:h}
        <slot></slot>
      </div>
      ${e==="custom"?this.dates():h}
      ${this.isExpanded?this.fields():h} ${this.chips()}
    `}clear(){this.isCustomRange=!1,this.change({})}categoryLabel(t){let e=this.formats.messages.categories[t]??t,i=this.top?.category?.find(s=>s.value===t);return i?`${e} (${this.formats.number(i.count)})`:e}dates(){let{messages:t}=this.formats,e=(i,s)=>d`
<label>
${s} (${this.isUtc?t.utc:t.localTime})
<input
type="datetime-local"
step="1"
.value=${yt(this.filter[i],this.isUtc)}
@change=${r=>this.set(i,bt(r.target.value,this.isUtc,i==="end_date"))}
/>
</label>
`;return d`<div class="dates">${e("start_date",t.from)} ${e("end_date",t.to)}</div>`}fields(){let{messages:t}=this.formats,e=[{field:"action",label:t.action,hint:t.actionHint,suggestions:"action"},{field:"actor_id",label:t.actorId,suggestions:"actor_id"},{field:"target_id",label:t.targetId},{field:"target_type",label:t.targetType,suggestions:"target_type"}];return this.hasTenants&&e.push({field:"tenant_id",label:t.tenant,suggestions:"tenant_id"}),d`<div class="grid">
${e.map(i=>this.textField(i))}
<label>
${t.actorType}
<select @change=${i=>this.set("actor_type",i.target.value)}>
<option value="" ?selected=${!this.filter.actor_type}>${t.any}</option>
${Object.entries(t.actorTypes).map(([i,s])=>d`<option value=${i} ?selected=${this.filter.actor_type===i}>${s}</option>`)}
        </select>
      </label>
    </div>`}textField({field:t,label:e,hint:i,suggestions:s}){let r=(s&&this.top?.[s])??[],o=`suggestions-${t}`;return d`<label>
${e}
<input
type="text"
maxlength="256"
autocomplete="off"
spellcheck="false"
placeholder=${i??""}
list=${r.length>0?o:h}
.value=${this.filter[t]??""}
@input=${a=>this.onInput(t,a)}
@keydown=${a=>this.onEnter(t,a)}
/>
${r.length>0?d`<datalist id=${o}>${r.map(({value:a,count:l})=>d`<option value=${a}>${this.formats.number(l)}</option>`)}</datalist>`:h}
    </label>`}chips(){let{messages:t}=this.formats,e={search:t.search,category:t.category,action:t.action,actor_id:t.actorId,actor_type:t.actorType,target_id:t.targetId,target_type:t.targetType,tenant_id:t.tenant,start_date:t.from,end_date:t.to},i=ce.filter(r=>this.filter[r]&&r!=="search"&&r!=="category");if(i.length===0)return h;let s=(r,o)=>r.endsWith("_date")?this.formats.absolute(o):o;return d`<div class="chips">
${i.map(r=>{let o=s(r,this.filter[r]??"");return d`<button class="chip" title=${t.removeFilter(e[r],o)} @click=${()=>this.set(r,void 0)}>
          <span class="muted">${e[r]}</span><span>${o}</span><span aria-hidden="true">×</span>
        </button>`})}
    </div>`}};var T=64,xt=400,fe=class extends v{constructor(){super();this.bars=[];this.isDragging=!1;this.observer=new ResizeObserver(([e])=>{e&&(this.width=Math.floor(e.contentRect.width))});this.active=-1,this.width=0,this.isZoomed=!1}static{this.properties={summary:{attribute:!1},formats:{attribute:!1},isZoomed:{attribute:!1},active:{state:!0},anchor:{state:!0},width:{state:!0}}}static{this.styles=[b,y`
:host { display: block; }
.chart { position: relative; touch-action: pan-y; cursor: crosshair; border-radius: var(--radius); }
.chart:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
svg { display: block; width: 100%; height: ${T}px; }
.auth { fill: var(--auth); } .access { fill: var(--access); } .mutation { fill: var(--mutation); }
.admin { fill: var(--admin); } .security { fill: var(--security); } .system, .all { fill: var(--system); }
.all { fill: var(--accent); }
.selection { fill: var(--accent); opacity: 0.16; }
.base { stroke: var(--border); }
.caption { display: flex; justify-content: space-between; gap: 12px; color: var(--muted); font-size: 0.86em; min-height: 20px; }
.caption b { color: var(--text); font-weight: 600; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 12px; }
.legend span { display: inline-flex; align-items: center; gap: 5px; }
:host([narrow]) .legend { display: none; }
`]}firstUpdated(){let e=this.renderRoot.querySelector(".chart");e&&this.observer.observe(e)}disconnectedCallback(){super.disconnectedCallback(),this.observer.disconnect()}willUpdate(e){e.has("summary")&&(this.bars=this.summary?li(this.summary):[],this.active=Math.min(this.active,this.bars.length-1),this.anchor=void 0)}label(e){let i=this.bars[e];if(!i||!this.summary)return"";let{messages:s}=this.formats,r=s.eventCount(this.formats.number(i.count),i.count===1);return s.bucket(this.formats.bucket(i.start,this.summary.interval),r)}selectionLabel(){let[e,i]=this.selection();if(e===i)return this.label(e);let s=this.bars.slice(e,i+1).reduce((c,p)=>c+p.count,0),{messages:r}=this.formats,o=this.summary?.interval??"day",a=c=>c?this.formats.bucket(c.start,o):"",l=`${a(this.bars[e])} – ${a(this.bars[i])}`;return r.bucket(l,r.eventCount(this.formats.number(s),s===1))}selection(){let e=this.anchor??this.active;return[Math.min(e,this.active),Math.max(e,this.active)]}render(){let{messages:e}=this.formats,i=this.bars.length,s=Math.max(1,...this.bars.map(u=>u.count)),r=i?this.width/i:0,o=r>4?1:0,[a,l]=this.selection(),c=this.bars.map((u,m)=>this.stack(u,m*r,Math.max(r-o,.5),s)),p=this.active>=0&&(this.isDragging||this.matches(":focus-within")||this.anchor!==void 0);return d`
<div
class="chart"
part="histogram"
role="slider"
tabindex="0"
aria-label=${e.histogram}
aria-valuemin="0"
aria-valuemax=${Math.max(i-1,0)}
aria-valuenow=${Math.max(this.active,0)}
aria-valuetext=${this.active>=0?this.selectionLabel():e.histogramHelp}
title=${e.histogramHelp}
@keydown=${this.onKey}
@focus=${()=>this.moveTo(this.active<0?i-1:this.active,!1)}
@pointerdown=${this.onDown}
@pointermove=${this.onMove}
@pointerup=${this.onUp}
@pointerleave=${()=>!this.isDragging&&!this.matches(":focus-within")&&(this.active=-1)}
@dblclick=${()=>this.zoomOut()}
>
<svg viewBox="0 0 ${Math.max(this.width,1)} ${T}" preserveAspectRatio="none" aria-hidden="true">
${c}
<line class="base" x1="0" x2=${this.width} y1=${T-.5} y2=${T-.5}></line>
${p||this.active>=0&&r>0?oe`<rect class="selection" x=${a*r} y="0" width=${(l-a+1)*r} height=${T}></rect>`:h}
        </svg>
      </div>
      <div class="caption">
        ${this.active>=0?d`<b aria-live="off">${this.selectionLabel()}</b>`:this.legend()}
        <span>${this.caption()}</span>
      </div>
    `}legend(){let e=Y.filter(s=>this.bars.some(r=>r.categories?.[s])),i=this.formats.messages.categories;return d`<span class="legend">${e.map(s=>d`<span><span class="dot ${s}"></span>${i[s]??s}</span>`)}</span>`}caption(){let[e,i]=[this.bars[0],this.bars.at(-1)];if(!e||!i||!this.summary||this.active>=0)return h;let{interval:s}=this.summary;return`${this.formats.bucket(e.start,s)} – ${this.formats.bucket(i.start,s)}`}stack(e,i,s,r){if(e.count===0)return h;let o=(T-4)/r;if(!e.categories){let l=Math.max(e.count*o,1.5);return oe`<rect class="all" x=${i} width=${s} y=${T-l} height=${l}></rect>`}let a=T;return Y.map(l=>{let c=e.categories?.[l]??0;if(c===0)return h;let p=Math.max(c*o,1.5);return a-=p,oe`<rect class=${l} x=${i} width=${s} y=${Math.max(a,0)} height=${p}></rect>`})}moveTo(e,i){i?this.anchor??=this.active:this.anchor=void 0,this.active=Math.max(0,Math.min(e,this.bars.length-1))}onKey(e){let s=getComputedStyle(this).direction==="rtl"?-1:1,o={ArrowRight:s,ArrowLeft:-s,ArrowUp:1,ArrowDown:-1,PageUp:10,PageDown:-10,Home:-this.bars.length,End:this.bars.length}[e.key];if(o!==void 0)this.moveTo(this.active+o,e.shiftKey);else if(e.key==="Enter"||e.key===" ")this.zoom();else if(e.key==="Escape"&&this.isZoomed)this.zoomOut();else return;e.preventDefault(),e.stopPropagation()}indexAt(e){let i=e.currentTarget.getBoundingClientRect(),s=Math.max(0,Math.min(e.clientX-i.left,i.width-1));return Math.floor(s/i.width*this.bars.length)}onDown(e){e.button!==0||this.bars.length===0||(e.currentTarget.setPointerCapture(e.pointerId),this.isDragging=!0,this.active=this.indexAt(e),this.anchor=this.active)}onMove(e){this.bars.length>0&&(this.active=this.indexAt(e))}onUp(e){this.isDragging&&(this.isDragging=!1,this.active=this.indexAt(e),this.zoom())}zoom(){let[e,i]=this.selection(),[s,r]=[this.bars[e],this.bars[i]];if(!s||!r)return;let o={start:new Date(s.start).toISOString(),end:new Date(r.end-1).toISOString()};this.anchor=void 0,this.dispatchEvent(new CustomEvent("zoom",{detail:o}))}zoomOut(){this.dispatchEvent(new CustomEvent("zoom-out"))}};function li(n){let{interval:t}=n,e=new Map(n.buckets.map(a=>[Date.parse(a.start),a])),i=[...e.keys()].sort((a,l)=>a-l),[s,r]=[i[0],i.at(-1)];if(s===void 0||r===void 0)return[];let o=[];for(let a=s;a<=r&&o.length<=xt;){let l=new Date(a).toISOString(),c=Ie(l,t);o.push({...e.get(a)??{start:l,count:0,categories:{}},end:c}),a=c}return o.length<=xt?o:i.map(a=>{let l=e.get(a);return{...l,end:Ie(l.start,t)}})}var w=class extends Error{constructor(e,i,s){super(i,s);this.code=e}code;name="VerificationError"};function f(n,t,e){if(!n)throw new w(t,e)}var di=new TextEncoder;function B(n){return di.encode(n)}function me(...n){let t=new Uint8Array(n.reduce((i,s)=>i+s.length,0)),e=0;for(let i of n)t.set(i,e),e+=i.length;return t}function j(n,t){if(n.length!==t.length)return!1;let e=0;for(let i=0;i<n.length;i+=1)e|=n[i]^t[i];return e===0}function De(n){return Array.from(n,t=>t.toString(16).padStart(2,"0")).join("")}function V(n,t,e){return f(typeof n=="string"&&n.length===2*e&&/^[0-9a-f]*$/.test(n),"malformed",`${t} is not ${2*e} hexadecimal digits`),Uint8Array.from({length:e},(i,s)=>Number.parseInt(n.slice(2*s,2*s+2),16))}function P(n,t){f(typeof n=="string","malformed",`${t} is not base64`);let e;try{e=atob(n)}catch(i){throw new w("malformed",`${t} is not base64`,{cause:i})}return f(btoa(e)===n,"malformed",`${t} is not base64`),Uint8Array.from(e,i=>i.charCodeAt(0))}function ge(){let n=globalThis.crypto?.subtle;if(n===void 0)throw new w("unsupported_runtime","this runtime has no WebCrypto; a browser has it on pages of HTTPS and of localhost only");return n}async function _(...n){return new Uint8Array(await ge().digest("SHA-256",me(...n)))}var ci=128,hi=Uint8Array.of(0),ui=Uint8Array.of(1);function He(n){return _(hi,n)}function ze(n,t){return _(ui,n,t)}function $t(n,t){return f(Array.isArray(n)&&n.length<=ci,"malformed",`${t} is not a list of hashes`),n.map(e=>{let i=P(e,`a hash of ${t}`);return f(i.length===32,"malformed",`a hash of ${t} is not 32 bytes long`),i})}async function Be(n){let{index:t,size:e}=n;f(Number.isSafeInteger(t)&&t>=0&&t<e,"not_included","the log has no such position");let i=t,s=e-1,r=n.leaf;for(let o of n.hashes){if(f(s!==0,"not_included","the proof has too many hashes"),i%2===1||i===s)for(r=await ze(o,r);i%2===0&&i!==0;)i=Math.floor(i/2),s=Math.floor(s/2);else r=await ze(r,o);i=Math.floor(i/2),s=Math.floor(s/2)}f(s===0,"not_included","the proof has too few hashes"),f(j(r,n.root),"not_included","the event is not in the log at this position")}var pi=128*1024,fi=100,kt="— ",mi=1;async function _t(n){let t=a=>{throw new w("invalid_key","a key has the form <name>+<key id>+<base64 of an Ed25519 key>",{cause:a})},[e="",i="",...s]=n.trim().split("+"),r=(()=>{try{return{id:V(i,"the key id",4),bytes:P(s.join("+"),"the key")}}catch(a){return t(a)}})();(!Et(e)||r.bytes.length!==33||r.bytes[0]!==mi)&&t();let o=(await _(B(`${e}
`),r.bytes)).slice(0,4);return f(j(o,r.id),"invalid_key","the key id is not that of the key"),{name:e,id:r.id,publicKey:r.bytes.slice(1)}}function Et(n){return n!==""&&!/[\s+\u0000-\u001f]/u.test(n)}async function gi(n){let t=typeof n=="string"?[n]:n;return f(t.length>0,"invalid_key","no key is given"),Promise.all(t.map(_t))}function vi(n){let t="a line after the text of the note is not a signature";f(n.startsWith(kt),"malformed",t);let[e="",i,...s]=n.slice(kt.length).split(" ");f(Et(e)&&s.length===0,"malformed",t);let r=P(i,"a signature");return f(r.length>4,"malformed",t),{name:e,id:r.slice(0,4),bytes:r.slice(4)}}async function yi(n,t,e){let i;try{i=await ge().importKey("raw",n.publicKey,{name:"Ed25519"},!1,["verify"])}catch(s){throw new w("unsupported_runtime","the WebCrypto of this runtime has no Ed25519",{cause:s})}return ge().verify({name:"Ed25519"},i,e,B(t))}async function At(n,t){f(typeof n=="string"&&n.length<=pi,"malformed","the note is too long"),f(!/[\u0000-\u0009\u000b-\u001f]/.test(n),"malformed","the note has control characters");let e=n.lastIndexOf(`

`);f(e>=0&&n.endsWith(`
`)&&n.length>e+2,"malformed","the note has no signatures");let i=n.slice(0,e+1),s=n.slice(e+2,-1).split(`
`);f(s.length<=fi,"malformed","the note has too many signatures");let r;for(let o of s.map(vi)){let a=t.find(({name:l,id:c})=>l===o.name&&j(c,o.id));a!==void 0&&(f(await yi(a,i,o.bytes),"invalid_signature","a signature is not valid"),r??=a)}return f(r!==void 0,"invalid_signature","the note is not signed by the given key"),{text:i,key:r}}async function je(n,t,e){let{text:i,key:s}=await At(n,await gi(t)),[r="",o="",a="",...l]=i.slice(0,-1).split(`
`);f(/^(0|[1-9][0-9]*)$/.test(o),"malformed","the second line of a checkpoint is its size");let c=Number(o);f(Number.isSafeInteger(c),"malformed","the size of the checkpoint is too large");let p=P(a,"the root of the checkpoint");return f(p.length===32,"malformed","the root of the checkpoint is not 32 bytes long"),f(c>0||j(p,await _()),"malformed","the root is not that of the empty log"),f(l.every(u=>u!==""),"malformed","the checkpoint has an empty line"),e!==void 0&&f(r===e,"other_log",`this is a checkpoint of ${r}, not of ${e}`),f(r.startsWith(`${s.name}/`),"other_log",`${r} is not a log of ${s.name}`),{origin:r,size:c,root:p,signedBy:s.name}}function Ve(n){let t=n.origin.slice(n.signedBy.length+1),e=/^([^/]+\/(?:live|test))(?:\/tenants\/([0-9a-f]{64}))?$/.exec(t);return f(e!==null,"other_log",`${n.origin} is not the log of a project or of one of its tenants`),{log:e[1],tenantLabel:e[2]}}var A=["kind","actor.email","actor.id","actor.name","changes","network","client","idempotency_key","metadata","target.id","target.name"],St={kind:["action","actor.type","category","target.type"],"actor.email":["actor.email"],"actor.id":["actor.id"],"actor.name":["actor.name"],changes:["changes"],network:["context.ip_address","context.location"],client:["context.session_id","context.user_agent"],idempotency_key:["idempotency_key"],metadata:["metadata"],"target.id":["target.id"],"target.name":["target.name"]},bi=["id","occurred_at","received_at","tenant_id"],ve=16,wi=32;function xi(n,t){let e=n;for(let i of t.split(".")){if(typeof e!="object"||e===null||!Object.hasOwn(e,i))return;e=e[i]}return e}function Tt(n,t){let e=t.map(i=>{let s=xi(n,i);return s===void 0?"":le(s)});return B(e.join(`
`))}async function $i(n){let t=Array.from({length:Math.ceil(A.length/2)},(i,s)=>_(Uint8Array.of(4),n,Uint8Array.of(s))),e=me(...await Promise.all(t));return A.map((i,s)=>e.slice(ve*s,ve*(s+1)))}function Pt(n,t,e){return _(Uint8Array.of(2),e,Uint8Array.of(t),Tt(n,St[A[t]]))}function Ct(n,t,e){return _(Uint8Array.of(3),B(`${e}
`),...t,Tt(n,bi))}async function Je(n,t,e){let i=await $i(V(t,"content_salt",ve)),s=await Promise.all(i.map((r,o)=>Pt(n,o,r)));return Ct(n,s,e)}async function Ke(n,t,e){f(Object.keys(t).length===A.length&&A.every(s=>Object.hasOwn(t,s)),"malformed","the proof does not have the eleven parts of an event");let i=A.map((s,r)=>{let o=t[s];return f(typeof o=="object"&&o!==null,"malformed",`the part ${s} is not an object`),"hash"in o?(f(!("salt"in o),"malformed",`the part ${s} has both a salt and a hash`),V(o.hash,`the hash of the part ${s}`,wi)):Pt(n,r,V(o.salt,`the salt of the part ${s}`,ve))});return Ct(n,await Promise.all(i),e)}var x=class extends Error{constructor(e,i,s=0,r="",o="",a=[]){super(i);this.kind=e;this.status=s;this.code=r;this.requestId=o;this.details=a}},ki={400:"invalid",401:"expired",403:"forbidden",404:"not_found",409:"invalid",413:"invalid",429:"busy",503:"busy"},te=class{constructor(t){this.connection=t}get isMaster(){return this.connection.credential.startsWith("mk_")}get isViewer(){return this.connection.credential.startsWith("vt_")}async get(t,e={},i){return this.json(await this.fetch("GET",t,{parameters:e,signal:i}))}async text(t,e={}){return(await this.fetch("GET",t,{parameters:e})).text().catch(We)}async send(t,e,i,s={}){return this.json(await this.fetch(t,e,{parameters:s,body:i}))}async json(t){let e=await t.text().catch(We);try{return mt(e)}catch{throw new x("server","the response is not JSON",t.status)}}async fetch(t,e,i={}){let{credential:s,baseUrl:r,projectId:o,environment:a}=this.connection,l=new URLSearchParams;for(let[L,xe]of Object.entries(i.parameters??{}))xe!==void 0&&xe!==""&&l.set(L,String(xe));this.isMaster&&a==="test"&&/^\/(events|alerts(\?|$|\/alt_)|log)/.test(e)&&l.set("environment","test");let c={};s&&(c.Authorization=`Bearer ${s}`),this.isMaster&&o&&!e.startsWith("/projects")&&(c["X-Project-Id"]=o),i.accept&&(c.Accept=i.accept);let p={method:t,headers:c,credentials:"omit",cache:"no-store",referrerPolicy:"no-referrer"};i.signal&&(p.signal=i.signal),i.body!==void 0&&(c["Content-Type"]="application/json",p.body=JSON.stringify(i.body));let u=l.toString(),m=`${r.replace(/\/+$/,"")}/api/v1${e}${u&&`?${u}`}`,g=await fetch(m,p).catch(We);if(!g.ok)throw await _i(g);return g}};function We(n){throw n instanceof DOMException&&n.name==="AbortError"?n:new x("offline","no response from the server")}async function _i(n){let t=await n.json().catch(()=>({})),e=ki[n.status]??"server",i=t.error?.message??`status ${n.status}`;return new x(e,i,n.status,t.error?.code,t.request_id,t.error?.details)}function $(n){return n instanceof DOMException&&n.name==="AbortError"}function k(n){return n instanceof x?n:new x("server",n instanceof Error?n.message:String(n))}async function Ot(n,t,e){let i,s=e?.trim()||void 0;try{i=await n.get(`/events/${t.id}/proof`),!s&&!n.isViewer&&(s=(await n.text("/log/key")).trim())}catch(r){let o=k(r),a=o.kind==="forbidden"?"forbidden":o.kind==="offline"?"offline":"other";return{outcome:"unavailable",steps:[],reason:a,message:o.message,hidden:[]}}return Ai(t,i,s,!!e?.trim(),Ei(n))}function Ei(n){let t=H(n.connection.credential)?.sub;return t?`${t}/live`:void 0}async function Ai(n,t,e,i,s){let r=[],o=async(u,m)=>{try{return r.push({name:u,state:"ok",detail:await m()}),!0}catch(g){if(g instanceof w&&g.code==="unsupported_runtime")throw g;return r.push({name:u,state:"failed",detail:g instanceof Error?g.message:String(g)}),!1}},a=Ci(t.checkpoint),l=a?Oi(a.origin):void 0;try{if(await o("identity",async()=>Si(n,t,l,s)),await o("content",()=>Ti(n,t,l)),await o("inclusion",()=>Pi(t,a)),e){let u;await o("signature",async()=>(u=await je(t.checkpoint,e,a?.origin),Ve(u),u.signedBy))}else r.push({name:"signature",state:"skipped",detail:""})}catch(u){return{outcome:"unavailable",steps:r,reason:"unsupported",message:k(u).message,hidden:[]}}r.push({name:"key",state:i&&r.at(-1)?.state==="ok"?"ok":"skipped",detail:e??""});let p={outcome:r.some(u=>u.state==="failed")?"failed":i?"verified":"consistent",steps:r,hidden:Ri(t),position:t.seq,key:e};return a&&Object.assign(p,{origin:a.origin,size:a.size}),p}function Si(n,t,e,i){if(n.content_hash!==t.content_hash)throw new Error("the proof is one of another event");if(!e)throw new Error("the checkpoint does not name a log of a project");if(i&&e!==i)throw new Error(`the proof is one of the log ${e}`);return n.id}async function Ti(n,t,e){if(!e)throw new Error("the log is unknown, and its name is part of the hash");let{content_salt:i,parts:s}=t,o=typeof i=="string"?await Je(n,i,e):await Ke(n,s??{},e),a=`sha256:${De(o)}`;if(a!==t.content_hash)throw new Error(`the fields shown give ${a}, the log has ${t.content_hash}`);return a}async function Pi(n,t){if(!t)throw new Error("the checkpoint is not in the form of one");let e=n.content_hash.replace(/^sha256:/,""),i=Uint8Array.from(e.match(/../g)??[],o=>Number.parseInt(o,16)),s=$t(n.inclusion,"the inclusion proof"),r=await He(i);return await Be({index:n.seq,size:t.size,leaf:r,hashes:s,root:P(t.root,"the root")}),`${n.seq} / ${t.size}`}function Ci(n){if(typeof n!="string")return;let[t="",e="",i=""]=n.split(`
`);return/^(0|[1-9]\d{0,15})$/.test(e)?{origin:t,size:Number(e),root:i}:void 0}function Oi(n){return/^[^/]+\/([^/]+\/(?:live|test))(?:\/tenants\/[0-9a-f]{64})?$/.exec(n)?.[1]}function Ri(n){let{content_salt:t,parts:e}=n;return typeof t=="string"||!e?[]:A.filter(i=>Object.hasOwn(e[i]??{},"hash"))}var ye=class extends v{constructor(){super(...arguments);this.run=0}static{this.properties={event:{attribute:!1},api:{attribute:!1},pinnedKey:{attribute:!1},formats:{attribute:!1},report:{state:!0}}}static{this.styles=[b,y`
:host { display: block; }
.mark { border-inline-start: 4px solid var(--border); padding: 8px 12px; border-radius: var(--radius); background: var(--surface); }
.mark.verified, .mark.consistent { border-color: var(--good); background: var(--good-bg); }
.mark.failed { border-color: var(--bad); background: var(--bad-bg); }
.mark.unavailable { border-color: var(--warn); }
h4 { display: flex; align-items: center; gap: 8px; margin: 0 0 4px; font-size: 1em; }
.verified h4, .consistent h4 { color: var(--good); } .failed h4 { color: var(--bad); } .unavailable h4 { color: var(--warn); }
p { margin: 4px 0; }
ul { margin: 8px 0; padding: 0; list-style: none; }
li { padding-block: 2px; padding-inline-start: 22px; position: relative; }
li::before { position: absolute; inset-inline-start: 2px; }
li.ok::before { content: "✓"; color: var(--good); } li.failed::before { content: "✗"; color: var(--bad); font-weight: 700; }
li.skipped::before { content: "–"; }
.detail { display: block; overflow-wrap: anywhere; }
details { margin-top: 4px; } summary { cursor: pointer; }
ul:not(.steps) li { padding-inline-start: 12px; } ul:not(.steps) li::before { content: "·"; }
dl { display: grid; grid-template-columns: auto 1fr; gap: 2px 10px; margin: 8px 0 0; }
dd { margin: 0; overflow-wrap: anywhere; }
`]}willUpdate(e){(e.has("event")||e.has("pinnedKey"))&&this.check()}async check(){let e=++this.run;this.report=void 0;let i=await Ot(this.api,this.event,this.pinnedKey);if(e!==this.run)return;this.report=i;let s={event:this.event.id,outcome:i.outcome};this.dispatchEvent(new CustomEvent("audit-proof-checked",{detail:s,bubbles:!0,composed:!0}))}render(){let{messages:e}=this.formats,i=e.proof,{report:s}=this;if(!s)return d`<div class="mark" role="status"><p class="spinner">${i.running}</p></div>`;let r={verified:i.verified,consistent:i.consistent,failed:i.failed,unavailable:i.unavailable},o={verified:i.verifiedText,consistent:i.consistentText,failed:i.failedText,unavailable:this.reason(s)},a={verified:"✓",consistent:"✓",failed:"✗",unavailable:"?"},l=s.outcome==="verified"||s.outcome==="consistent";return d`
<div class="mark ${s.outcome}" part="proof proof-${s.outcome}" role=${s.outcome==="failed"?"alert":"status"}>
<h4><span aria-hidden="true">${a[s.outcome]}</span>${r[s.outcome]}</h4>
<p>${o[s.outcome]}</p>
${s.outcome==="consistent"?d`<p>${s.key?i.unpinnedText:i.noKeyText}</p>`:h}
        ${s.hidden.length>0?d`<p>${i.hidden(s.hidden.join(", "))}</p>`:h}
        ${s.steps.length>0?d`<details ?open=${!l}>
<summary>${i.checks}</summary>
${s.outcome==="verified"?d`<p>${i.pinnedText}</p>`:h}
              <ul class="steps">${s.steps.map(c=>this.step(c))}</ul>
              ${this.facts(s)}
            </details>`:h}
        <details>
          <summary>${i.notProven}</summary>
          <ul>${i.notProvenList.map(c=>d`<li>${c}</li>`)}</ul>
        </details>
        ${l?h:d`<p><button @click=${()=>this.check()}>${i.again}</button></p>`}
      </div>
    `}reason(e){let i=this.formats.messages.proof,r={forbidden:i.tier,unsupported:i.unsupported,offline:this.formats.messages.offlineText,other:""}[e.reason??"other"]||e.message||"";return`${i.unavailableText} ${r}`}step({name:e,state:i,detail:s}){let r=this.formats.messages.proof;return d`<li class=${i}>
${r.steps[e]}${i==="skipped"?d` <span class="muted">(${r.skipped})</span>`:h}
      ${i==="failed"?d`<code class="detail">${s}</code>`:h}
    </li>`}facts({position:e,size:i,origin:s,key:r}){let o=this.formats.messages.proof;return e===void 0||i===void 0?h:d`
<p>${o.position(this.formats.number(e+1),this.formats.number(i))}</p>
<dl>
${s?d`<dt class="muted">${o.signedBy}</dt><dd class="mono">${s}</dd>`:h}
        ${r?d`<dt class="muted">${o.key}</dt><dd class="mono">${r}</dd>`:h}
      </dl>
    `}};async function Rt(n,t,e,i,s){let r=await n.fetch("GET","/events/export",{parameters:{...z(t),format:e},signal:s}),o=/filename="([^"]+)"/.exec(r.headers.get("content-disposition")??"")?.[1]??`events.${e}`,a=[],l=0,c=r.body?.getReader();for(;;){let p=await c?.read().catch(Fi);if(!p||p.done)break;a.push(p.value),l+=p.value.length,i(l)}Mi(new Blob(a,{type:r.headers.get("content-type")??"application/octet-stream"}),o)}function Fi(n){throw $(n)?n:new x("offline","the export was interrupted")}function Mi(n,t){let e=URL.createObjectURL(n),i=document.createElement("a");i.href=e,i.download=t,i.click(),setTimeout(()=>URL.revokeObjectURL(e),6e4)}var Ft=200,Mt=40;function Nt(n,t){return n.occurred_at===t.occurred_at?n.id>t.id:n.occurred_at>t.occurred_at}var be=class{constructor(t,e,i){this.api=t;this.filter=e;this.signal=i;this.pages=[];this.next=null;this.isStarted=!1}continueWith(t){this.api=t}get length(){return this.pages.reduce((t,e)=>t+e.count,0)}get isComplete(){return this.isStarted&&this.next===null}at(t){let e=t;for(let i of this.pages){if(e<i.count)return i.events?.[e];e-=i.count}}more(){return this.isComplete?Promise.resolve():(this.reading??=this.readNext().finally(()=>{this.reading=void 0}),this.reading)}async readNext(){let t=this.next,e=await this.read(t);this.isStarted=!0,this.next=e.has_more?e.cursor:null;let i=e.events.at(-1);i&&this.pages.push({cursor:t,count:e.events.length,events:e.events,lastId:i.id})}read(t){let e={...z(this.filter),limit:Ft,cursor:t??void 0};return this.api.get("/events",e,this.signal)}async show(t,e){let i=0,s=this.pages.map(l=>{let c=i;return i+=l.count,{page:l,start:c,end:i}}),r=({start:l,end:c})=>l<e&&c>t,o=s.filter(l=>r(l)&&!l.page.events);await Promise.all(o.map(({page:l})=>this.readAgain(l)));let a=this.pages.filter(l=>l.events).length;if(a>Mt){let l=(t+e)/2,c=({start:u,end:m})=>Math.abs((u+m)/2-l),p=s.filter(u=>u.page.events&&u.start>0).sort((u,m)=>c(m)-c(u));for(let{page:u}of p.slice(0,a-Mt))u.events=void 0}return o.length>0}async readAgain(t){let{events:e}=await this.read(t.cursor),i=e.findIndex(s=>s.id===t.lastId);t.events=i<0?e:e.slice(0,i+1),t.count=t.events.length}async refresh(){let{events:t}=await this.read(null),e=this.pages[0];if(!e?.events)return t.length>0?void 0:[];let i=new Set(e.events.map(l=>l.id)),s=e.events.at(-1),r=this.pages.length===1&&this.isComplete,o=t.filter(l=>!i.has(l.id)&&(r||s&&Nt(l,s)));if(o.length===t.length&&t.length>=Ft)return;let a=new Set(o.map(l=>l.id));return e.events=[...e.events,...o].sort((l,c)=>Nt(l,c)?-1:1),e.count=e.events.length,e.lastId=e.events.at(-1)?.id??"",e.events.flatMap((l,c)=>a.has(l.id)?[c]:[])}};var Lt={direction:"ltr",title:"Audit-Log",search:"Suche",searchHint:"Wörter aus Aktion, Akteur oder Ziel",category:"Kategorie",allCategories:"Alle Kategorien",action:"Aktion",actionHint:"auth.failed oder user.*",actor:"Akteur",actorId:"Akteur-ID",actorType:"Art des Akteurs",target:"Ziel",targetId:"Ziel-ID",targetType:"Art des Ziels",tenant:"Mandant",time:"Zeit",from:"Von",to:"Bis",any:"Alle",moreFilters:"Mehr Filter",fewerFilters:"Weniger Filter",clearFilters:"Filter zurücksetzen",removeFilter:(n,t)=>`Filter entfernen: ${n} ${t}`,filterBy:(n,t)=>`Nur Ereignisse mit ${n} ${t} zeigen`,range:"Zeitraum",ranges:{all:"Gesamter Zeitraum",hour:"Letzte Stunde",day:"Letzte 24 Stunden",week:"Letzte 7 Tage",month:"Letzte 30 Tage",quarter:"Letzte 90 Tage",custom:"Eigener"},categories:{auth:"Anmeldung",access:"Zugriff",mutation:"Änderung",admin:"Verwaltung",security:"Sicherheit",system:"System"},actorTypes:{user:"Benutzer",api_key:"API-Schlüssel",service:"Dienst",system:"System"},events:"Ereignisse",eventCount:(n,t)=>t?`${n} Ereignis`:`${n} Ereignisse`,loadedCount:n=>`${n} Ereignisse geladen`,newEvents:(n,t)=>t?`${n} neues Ereignis`:`${n} neue Ereignisse`,histogram:"Ereignisse im Zeitverlauf",histogramHelp:"Pfeiltasten wechseln den Zeitabschnitt, Umschalt und Pfeiltasten wählen mehrere, Eingabe vergrößert, Escape verkleinert. Mit der Maus: ziehen.",bucket:(n,t)=>`${n}: ${t}`,zoomOut:"Verkleinern",live:"Live",livePause:"Laufende Aktualisierung anhalten",liveStart:"Laufende Aktualisierung starten",liveConnecting:"Verbindung wird aufgebaut …",relativeTimes:"Relative Zeiten",absoluteTimes:"Absolute Zeiten",utc:"UTC",localTime:"Ortszeit",download:"Herunterladen",downloadCsv:"Als CSV herunterladen",downloadJson:"Als JSON-Zeilen herunterladen",downloading:n=>`Wird heruntergeladen … ${n}`,downloadFailed:"Das Herunterladen ist fehlgeschlagen",cancel:"Abbrechen",copyLink:"Link kopieren",copied:"Kopiert",copy:"Kopieren",close:"Schließen",back:"Zurück zur Liste",previousEvent:"Neueres Ereignis",nextEvent:"Älteres Ereignis",retry:"Erneut versuchen",loading:"Ereignisse werden geladen …",loadingMore:"Ältere Ereignisse werden geladen …",endOfLog:"Keine älteren Ereignisse",empty:"Noch keine Ereignisse",emptyText:"Ereignisse erscheinen hier, sobald sie aufgezeichnet werden.",emptyFilter:"Kein passendes Ereignis",emptyFilterText:"Ändern Sie die Filter oder setzen Sie sie zurück.",failed:"Die Ereignisse konnten nicht geladen werden",offline:"Keine Verbindung",offlineText:"Der Server antwortet nicht. Die Anzeige kann veraltet sein.",busy:"Der Server ist ausgelastet",expired:"Ihr Zugang ist abgelaufen",expiredText:"Öffnen Sie diese Seite erneut aus Ihrer Anwendung.",expiredWaiting:"Ein neuer Zugang wird angefordert …",forbidden:"Kein Zugang",noToken:"Noch kein Zugang",noTokenText:"Öffnen Sie diese Seite aus Ihrer Anwendung. Der Link enthält den Zugang.",requestId:"Anfrage",details:"Einzelheiten des Ereignisses",summary:"Übersicht",occurredAt:"Geschehen",receivedAt:"Empfangen",location:"Ort",ipAddress:"IP-Adresse",userAgent:"Programm",session:"Sitzung",email:"E-Mail",name:"Name",type:"Art",id:"ID",context:"Umstände",metadata:"Weitere Angaben",changes:"Änderungen",field:"Feld",before:"Vorher",after:"Nachher",absent:"nicht gesetzt",contentHash:"Inhalts-Hash",redacted:"Personenbezogene Daten wurden entfernt, bevor dieses Ereignis gespeichert wurde.",rawJson:"JSON zeigen",hideJson:"JSON ausblenden",copyJson:"JSON kopieren",eventNotFound:"Dieses Ereignis gibt es nicht, oder Sie dürfen es nicht sehen.",proof:{title:"Nachweis",checks:"Was geprüft wurde",again:"Erneut prüfen",running:"Wird in Ihrem Browser geprüft …",verified:"Nachgewiesen",verifiedText:"Dieses Ereignis ist genau so, wie es im Log aufgezeichnet wurde, und das Log wurde mit diesem Inhalt signiert.",consistent:"Stimmig",consistentText:"Dieses Ereignis ist genau so, wie es in dem Log steht, das der Nachweis nennt.",noKeyText:"Die Signatur wurde nicht geprüft, weil dieser Seite kein Schlüssel vorgegeben ist.",unpinnedText:"Die Signatur ist gültig, aber der Schlüssel kommt vom selben Server. Um ein gefälschtes Log auszuschließen, vergleichen Sie den Schlüssel unten mit dem, den Sie auf anderem Weg erhalten haben.",pinnedText:"Die Signatur wurde mit dem Schlüssel geprüft, der dieser Seite vorgegeben ist.",failed:"Nicht nachgewiesen",failedText:"Verlassen Sie sich nicht auf dieses Ereignis. Nennen Sie dem Betreiber des Logs die Angaben unten.",unavailable:"Kein Nachweis verfügbar",unavailableText:"Ein Fehler ist nicht bekannt, aber dieses Ereignis konnte nicht geprüft werden.",steps:{content:"Inhalt: Die gezeigten Felder ergeben den Hash, der im Log steht",identity:"Zuordnung: Der Nachweis gehört zu diesem Ereignis",inclusion:"Enthaltensein: Der Hash steht an seiner Stelle im Baum des Logs",signature:"Signatur: Die Wurzel des Baums ist mit dem Schlüssel des Logs signiert",key:"Schlüssel: Der Signaturschlüssel ist der erwartete"},skipped:"nicht geprüft",position:(n,t)=>`Stelle ${n} von ${t} im Log`,hidden:n=>`Für Sie nicht sichtbar und daher nicht geprüft: ${n}`,notProven:"Was damit nicht nachgewiesen ist",notProvenList:["Dass das Ereignis wahr ist: Es zeigt, was die Anwendung gemeldet hat.","Dass in der Liste kein anderes Ereignis fehlt.","Änderungen vor der ersten Signatur, etwa eine Sekunde nach dem Speichern.","Der Vermerk über entfernte Daten, der nicht Teil des Hashs ist."],signedBy:"Log",key:"Schlüssel",unsupported:"Dieser Browser kann Ed25519-Signaturen nicht prüfen. Verwenden Sie einen neueren.",tooNew:"Dieses Ereignis ist neuer als der letzte signierte Stand des Logs. Versuchen Sie es in einer Sekunde erneut.",tier:"Ihr Zugang umfasst keine Nachweise."},justNow:"gerade eben",language:"Sprache",theme:"Darstellung",themes:{auto:"Automatisch",light:"Hell",dark:"Dunkel"}};var qe={direction:"ltr",title:"Audit log",search:"Search",searchHint:"Words of action, actor or target",category:"Category",allCategories:"All categories",action:"Action",actionHint:"auth.failed or user.*",actor:"Actor",actorId:"Actor ID",actorType:"Actor type",target:"Target",targetId:"Target ID",targetType:"Target type",tenant:"Tenant",time:"Time",from:"From",to:"To",any:"Any",moreFilters:"More filters",fewerFilters:"Fewer filters",clearFilters:"Clear filters",removeFilter:(n,t)=>`Remove filter ${n}: ${t}`,filterBy:(n,t)=>`Show only events with ${n} ${t}`,range:"Period",ranges:{all:"All time",hour:"Last hour",day:"Last 24 hours",week:"Last 7 days",month:"Last 30 days",quarter:"Last 90 days",custom:"Custom"},categories:{auth:"Authentication",access:"Access",mutation:"Change",admin:"Administration",security:"Security",system:"System"},actorTypes:{user:"User",api_key:"API key",service:"Service",system:"System"},events:"Events",eventCount:(n,t)=>t?`${n} event`:`${n} events`,loadedCount:n=>`${n} events loaded`,newEvents:(n,t)=>t?`${n} new event`:`${n} new events`,histogram:"Events over time",histogramHelp:"Arrow keys move between periods, Shift and arrow keys select several, Enter zooms in, Escape zooms out. With the mouse: drag.",bucket:(n,t)=>`${n}: ${t}`,zoomOut:"Zoom out",live:"Live",livePause:"Pause live updates",liveStart:"Start live updates",liveConnecting:"Connecting …",relativeTimes:"Relative times",absoluteTimes:"Absolute times",utc:"UTC",localTime:"Local time",download:"Download",downloadCsv:"Download as CSV",downloadJson:"Download as JSON lines",downloading:n=>`Downloading … ${n}`,downloadFailed:"The download failed",cancel:"Cancel",copyLink:"Copy link",copied:"Copied",copy:"Copy",close:"Close",back:"Back to the list",previousEvent:"Newer event",nextEvent:"Older event",retry:"Try again",loading:"Loading events …",loadingMore:"Loading older events …",endOfLog:"No older events",empty:"No events yet",emptyText:"Events appear here as soon as they are recorded.",emptyFilter:"No event matches",emptyFilterText:"Change or clear the filters.",failed:"The events could not be loaded",offline:"No connection",offlineText:"The server does not respond. What is shown may be out of date.",busy:"The server is busy",expired:"Your access has expired",expiredText:"Open this page again from the application that you came from.",expiredWaiting:"Waiting for a new access …",forbidden:"No access",noToken:"No access yet",noTokenText:"Open this page from your application. The link contains the access.",requestId:"Request",details:"Event details",summary:"Summary",occurredAt:"Occurred",receivedAt:"Received",location:"Location",ipAddress:"IP address",userAgent:"User agent",session:"Session",email:"E-mail",name:"Name",type:"Type",id:"ID",context:"Context",metadata:"Metadata",changes:"Changes",field:"Field",before:"Before",after:"After",absent:"not set",contentHash:"Content hash",redacted:"Personal data was removed before this event was stored.",rawJson:"Raw JSON",hideJson:"Hide JSON",copyJson:"Copy JSON",eventNotFound:"This event does not exist, or you cannot see it.",proof:{title:"Proof",checks:"What was checked",again:"Check again",running:"Checking in your browser …",verified:"Verified",verifiedText:"This event is exactly as it was recorded in the log, and the log was signed with this content.",consistent:"Consistent",consistentText:"This event is exactly as it was recorded in the log that the proof names.",noKeyText:"The signature was not checked, because this page was given no key to check it against.",unpinnedText:"The signature is valid, but the key was supplied by the same server. To rule out a forged log, compare the key below with the one that you received another way.",pinnedText:"The signature was checked against the key that this page was given.",failed:"Not verified",failedText:"Do not rely on this event. Tell the operator of the log, with the details below.",unavailable:"No proof available",unavailableText:"Nothing is known to be wrong, but this event could not be checked.",steps:{content:"Content: the fields shown give the hash that is in the log",identity:"Identity: the proof is about this event",inclusion:"Inclusion: the hash is at its position in the tree of the log",signature:"Signature: the root of the tree is signed by the log’s key",key:"Key: the signing key is the expected one"},skipped:"not checked",position:(n,t)=>`Position ${n} of ${t} in the log`,hidden:n=>`Not visible to you, and so not checked: ${n}`,notProven:"What this does not prove",notProvenList:["That the event is true: it shows what the application reported.","That no other event is missing from the list.","Anything about changes before the event was first signed, about a second after it was stored.","The mark “redacted”, which is not part of the hash."],signedBy:"Log",key:"Key",unsupported:"This browser cannot verify Ed25519 signatures. Use a newer one.",tooNew:"This event is newer than the last signed state of the log. Try again in a second.",tier:"Your access does not include proofs."},justNow:"just now",language:"Language",theme:"Appearance",themes:{auto:"Automatic",light:"Light",dark:"Dark"}};var Ut=new Map([["en",qe],["de",Lt]]);function It(){return[...Ut.keys()]}function N(n){for(let t of n)for(let e of[t.toLowerCase(),t.toLowerCase().split("-")[0]??""]){let i=Ut.get(e);if(i)return{name:t,messages:i}}return{name:"en",messages:qe}}var Dt=1e3,Ni=3e4;async function zt(n,t,e,i){let s="latest",r=Dt;for(;!i.aborted;){try{for await(let o of Ui(n,t,s,i)){if(r=Dt,e.connected(!0),o.event==="end"){let{code:a,message:l}=JSON.parse(o.data);throw new x("expired",l,401,a)}o.id&&(s=o.id),o.event==="audit"&&e.arrived()}}catch(o){if(i.aborted||$(o))return;let a=k(o);if(["expired","forbidden","invalid","not_found"].includes(a.kind)){e.connected(!1),e.ended(a);return}}e.connected(!1),await Li(r*(1+Math.random()),i),r=Math.min(r*2,Ni)}}function Li(n,t){return new Promise(e=>{let i=setTimeout(e,n);t.addEventListener("abort",()=>(clearTimeout(i),e()),{once:!0})})}async function*Ui(n,t,e,i){let s={...vt(t),after:e},o=(await n.fetch("GET","/events/feed",{parameters:s,accept:"text/event-stream",signal:i})).body?.pipeThrough(new TextDecoderStream).getReader();if(!o)return;let a="";try{for(;;){let{done:l,value:c}=await o.read();if(l)return;a+=c;let p=a.split(`

`);a=p.pop()??"";for(let u of p)yield Ii(u)}}finally{await o.cancel().catch(()=>{})}}function Ii(n){let t={event:"",data:"",id:""};for(let e of n.split(`
`)){let i=e.indexOf(": "),s=e.slice(0,i);(s==="event"||s==="data"||s==="id")&&(t[s]=e.slice(i+2))}return t}var Ht=y`
:host {
display: flex; flex-direction: column; height: var(--audit-height, 640px); min-height: 320px; background: var(--bg); overflow: hidden;
container-type: inline-size;
}
.root { display: flex; flex-direction: column; flex: 1; min-height: 0; position: relative; }
.top { padding: 10px 12px 8px; border-bottom: 1px solid var(--border); }
.tools { display: flex; flex-wrap: wrap; gap: 6px; margin-inline-start: auto; }
.chart { padding: 8px 12px 2px; border-bottom: 1px solid var(--border); }
.messages { padding: 8px 12px 0; } .messages:empty { display: none; }
.main { display: flex; flex: 1; min-height: 0; position: relative; }
.list { display: flex; flex-direction: column; flex: 1; min-width: 0; min-height: 0; position: relative; }
.grid { flex: 1; overflow-y: auto; overflow-x: hidden; overflow-anchor: none; min-height: 0; }
.grid:focus-visible { outline: 2px solid var(--accent); outline-offset: -2px; }
.head, .line { display: grid; grid-template-columns: 172px minmax(150px, 1.3fr) minmax(120px, 1fr) minmax(120px, 1fr); gap: 12px;
align-items: center; padding: 0 12px; }
.tenants :is(.head, .line) { grid-template-columns: 172px minmax(150px, 1.3fr) minmax(110px, 1fr) minmax(110px, 1fr) minmax(90px, 0.7fr); }
.head { height: 30px; color: var(--muted); font-size: 0.88em; font-weight: 600; position: sticky; top: 0; z-index: 1; background: var(--surface);
border-bottom: 1px solid var(--border); }
.line { height: 34px; border-bottom: 1px solid color-mix(in srgb, var(--border) 55%, transparent); cursor: pointer; }
.line:hover { background: var(--surface); }
.line.active { box-shadow: inset 3px 0 var(--accent); }
[dir="rtl"] .line.active { box-shadow: inset -3px 0 var(--accent); }
.line.open { background: var(--selected); }
.line > div { min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.line .action { display: flex; align-items: center; gap: 8px; font-weight: 500; }
.line .action span:last-child { overflow: hidden; text-overflow: ellipsis; }
.line time, .line .secondary { color: var(--muted); font-variant-numeric: tabular-nums; }
.line .type { color: var(--muted); font-size: 0.9em; }
@media (prefers-reduced-motion: no-preference) { .line.fresh { animation: arrive 2.4s ease-out; } }
@keyframes arrive { from { background: var(--good-bg); } }
.pending { background: linear-gradient(90deg, var(--surface) 30%, transparent); border-radius: 3px; height: 12px; }
.end { padding: 10px 12px; color: var(--muted); text-align: center; }
.state { display: flex; flex-direction: column; gap: 8px; align-items: center; justify-content: center; flex: 1; padding: 32px 16px; text-align: center; }
.state h3 { margin: 0; font-size: 1.15em; } .state p { margin: 0; color: var(--muted); max-width: 46ch; }
.arrived { position: absolute; inset-block-start: 38px; inset-inline: 0; display: flex; justify-content: center; z-index: 2; pointer-events: none; }
.arrived button { pointer-events: auto; box-shadow: 0 2px 8px rgb(0 0 0 / 0.2); border-radius: 15px; }
audit-log-event { flex: 0 0 min(46%, 560px); border-inline-start: 1px solid var(--border); }
footer { display: flex; flex-wrap: wrap; gap: 4px 14px; align-items: center; padding: 5px 12px; border-top: 1px solid var(--border);
background: var(--surface); color: var(--muted); font-size: 0.9em; min-height: 32px; }
footer .tools button { min-height: 26px; padding: 1px 8px; }
.live::before { content: ""; width: 8px; height: 8px; border-radius: 50%; background: var(--muted); }
.live[aria-pressed="true"]::before { background: var(--good); }
.menu { position: relative; }
.menu > div { position: absolute; inset-block-start: 34px; inset-inline-end: 0; z-index: 3; display: flex; flex-direction: column; padding: 4px;
background: var(--raised); border: 1px solid var(--border); border-radius: var(--radius); box-shadow: 0 6px 20px rgb(0 0 0 / 0.18); }
.menu > div button { border: 0; justify-content: flex-start; }
.narrow .head { display: none; }
.narrow .line { grid-template-columns: 1fr auto; grid-template-rows: 22px 20px; gap: 0 10px; height: 56px; align-content: center; }
.narrow .line .action { grid-area: 1 / 1; } .narrow .line .when { grid-area: 1 / 2; }
.narrow .line .who { grid-area: 2 / 1; } .narrow .line .what { grid-area: 2 / 2; max-width: 44cqi; } .narrow .line .tenant { display: none; }
.narrow audit-log-event { position: absolute; inset: 0; z-index: 4; border: 0; }
.narrow .tools { margin-inline-start: 0; }
.narrow .menu > div { inset-inline: 0 auto; }
`;var Di=34,zi=56,Hi=640,Bt=12,Bi=80,ji=400,Vi=1e4,Ji=15e3,we=class extends v{constructor(){super();this.api=new te({baseUrl:"",credential:""});this.formats=new ee("en",N(["en"]).messages,!1);this.loading=new AbortController;this.following=new AbortController;this.summaryReadAt=0;this.freshIds=new Set;this.resize=new ResizeObserver(([e])=>{e&&(this.isNarrow=e.contentRect.width<Hi),this.requestUpdate()});this.onHash=()=>{!this.fragment||Q(he(location.hash))===Q(this.view)||this.applyView(he(location.hash))};this.onOnline=()=>{(this.isOffline||this.failure?.kind==="offline")&&this.reload()};this.baseUrl="",this.token="",this.theme="auto",this.fragment=!1,this.paused=!1,this.filter={},this.isLoading=!1,this.isLoadingMore=!1,this.active=0,this.isConnected_=!1,this.isOffline=!1,this.isAbsolute=!0,this.isUtc=!1,this.isNarrow=!1,this.isMenuOpen=!1,this.downloadFailure="",this.arrivedCount=0,this.isWaiting=!1,this.announcement=""}static{this.properties={baseUrl:{attribute:"base-url"},token:{},pinnedKey:{attribute:"pinned-key"},lang:{reflect:!1},theme:{reflect:!0},fragment:{type:Boolean},paused:{type:Boolean},projectId:{attribute:"project-id"},environment:{},refreshToken:{attribute:!1},filter:{attribute:!1},wanted:{attribute:!1},opened:{state:!0},failure:{state:!0},isLoading:{state:!0},isLoadingMore:{state:!0},summary:{state:!0},active:{state:!0},isConnected_:{state:!0},isOffline:{state:!0},isAbsolute:{state:!0},isUtc:{state:!0},isNarrow:{state:!0},isMenuOpen:{state:!0},downloaded:{state:!0},downloadFailure:{state:!0},arrivedCount:{state:!0},isWaiting:{state:!0},announcement:{state:!0}}}static{this.styles=[b,ae,Ht]}connectedCallback(){super.connectedCallback(),this.resize.observe(this),this.clock=setInterval(()=>!this.isAbsolute&&this.requestUpdate(),Ji),addEventListener("hashchange",this.onHash),addEventListener("online",this.onOnline),this.fragment&&this.applyView(he(location.hash)),this.hasUpdated&&this.reload()}disconnectedCallback(){super.disconnectedCallback(),this.resize.disconnect(),clearInterval(this.clock),clearTimeout(this.arrivals),removeEventListener("hashchange",this.onHash),removeEventListener("online",this.onOnline),this.loading.abort(),this.following.abort(),this.downloading?.abort()}get link(){return`${location.href.split("#")[0]}#${Q(this.view)}`}get view(){return{filter:this.filter,event:this.opened?.id??this.wanted}}applyView(e){this.filter=e.filter,this.wanted=e.event,this.opened=void 0}showView(){this.fragment&&this.link!==location.href&&history.replaceState(history.state,"",this.link),this.dispatchEvent(new CustomEvent("audit-view-changed",{detail:{fragment:Q(this.view)},bubbles:!0,composed:!0}))}willUpdate(e){if(e.has("lang")||e.has("isUtc")||!this.hasUpdated){let r=this.parentElement?.closest("[lang]")?.getAttribute("lang"),{name:o,messages:a}=N([this.lang,r,...navigator.languages].filter(c=>c)),l=navigator.languages.find(c=>c.split("-")[0]===o.split("-")[0]);this.formats=new ee(o.includes("-")?o:l??o,a,this.isUtc)}let s=["baseUrl","token","projectId","environment"].some(r=>e.has(r));s&&(this.api=new te({baseUrl:this.baseUrl,credential:this.token,projectId:this.projectId,environment:this.environment})),e.has("token")&&this.isSameReader(e.get("token"))?this.resume():(s||e.has("filter"))&&this.reload(),e.has("wanted")&&this.wanted&&this.pages&&!this.isLoading&&this.openById(this.wanted),e.has("paused")&&!s&&this.pages&&this.followLive()}updated(e){(e.has("filter")||e.has("opened"))&&this.showView(),this.layOut()}reload(){this.loading.abort(),this.following.abort(),this.loading=new AbortController,this.isWaiting=!1,this.failure=void 0,this.isOffline=!1,this.arrivedCount=0,this.active=0,this.pages=void 0,this.token&&this.load(new be(this.api,this.filter,this.loading.signal),this.loading.signal)}async load(e,i){this.isLoading=!0,this.pages=e,this.readSummary(i);try{await e.more(),this.announcement=this.formats.messages.loadedCount(this.formats.number(e.length))}catch(r){if($(r))return;this.fail(k(r))}finally{i.aborted||(this.isLoading=!1)}if(i.aborted)return;let s=this.grid;s&&(s.scrollTop=0),this.failure||this.followLive(),this.wanted&&this.openById(this.wanted),this.requestUpdate()}isSameReader(e){let[i,s]=[H(e??""),H(this.token)];return!!(i&&s&&i.sub===s.sub&&i.tenant_id===s.tenant_id&&i.tier===s.tier&&this.pages&&this.pages.length>0)}resume(){this.isWaiting=!1,this.failure=void 0,this.pages?.continueWith(this.api),this.followLive()}async readSummary(e){this.summaryReadAt=Date.now();try{let i={...z(this.filter),split:"category"};this.summary=await this.api.get("/events/summary",i,e)}catch(i){!$(i)&&["not_found","forbidden"].includes(k(i).kind)&&(this.summary=void 0)}}followLive(){if(this.following.abort(),this.isConnected_=!1,this.paused||!this.token)return;this.following=new AbortController;let e={arrived:()=>this.onArrival(),connected:i=>{i&&(this.isOffline=!1),this.isConnected_=i},ended:i=>i.kind==="expired"&&this.fail(i)};zt(this.api,this.filter,e,this.following.signal)}onArrival(){this.arrivals??=setTimeout(()=>{this.arrivals=void 0,this.showArrivals()},ji)}async showArrivals(){let{pages:e,grid:i}=this;if(!e||this.paused)return;let{signal:s}=this.loading;try{let r=await e.refresh();if(s.aborted)return;if(!r)return this.reload();for(let o of r){let a=e.at(o);a&&this.freshIds.add(a.id),o<=this.active&&(this.active+=1)}r.length>0&&i&&i.scrollTop>0?(await this.updateComplete,i.scrollTop+=r.length*this.rowHeight,this.arrivedCount+=r.length):this.active=Math.max(0,Math.min(this.active,e.length-1)),Date.now()-this.summaryReadAt>Vi&&this.readSummary(s),this.requestUpdate()}catch(r){$(r)||this.fail(k(r))}}fail(e){if(e.kind==="offline"&&this.pages&&this.pages.length>0){this.isOffline=!0;return}this.failure=e,e.kind==="expired"&&(this.following.abort(),this.isConnected_=!1,this.askForToken(e))}async askForToken(e){let i=new CustomEvent("audit-token-expired",{detail:{code:e.code},bubbles:!0,composed:!0,cancelable:!0}),s=!this.dispatchEvent(i);if(this.isWaiting=s||!!this.refreshToken,!!this.refreshToken)try{this.token=await this.refreshToken()}catch{this.isWaiting=!1}}get grid(){return this.renderRoot.querySelector(".grid")}get rowHeight(){return this.isNarrow?zi:Di}window(){let{grid:e,pages:i}=this,s=i?.length??0,r=e?.scrollTop??0,o=e?.clientHeight||800,a=Math.max(0,Math.floor(r/this.rowHeight)-Bt);return[Math.min(a,s),Math.min(s,Math.ceil((r+o)/this.rowHeight)+Bt)]}layOut(){let{pages:e}=this;if(!e)return;let[i,s]=this.window(),r=this.renderRoot.querySelector(".before-rows"),o=this.renderRoot.querySelector(".after-rows");r?.style.setProperty("height",`${i*this.rowHeight}px`),o?.style.setProperty("height",`${(e.length-s)*this.rowHeight}px`),s+Bi>e.length&&!e.isComplete&&!this.isLoading&&!this.isLoadingMore&&!this.failure&&!this.isOffline&&this.more(),e.show(i,s).then(a=>a&&this.requestUpdate(),a=>this.onBackground(a))}onBackground(e){$(e)||this.fail(k(e))}async more(){this.isLoadingMore=!0;try{await this.pages?.more()}catch(e){this.onBackground(e)}finally{this.isLoadingMore=!1}}render(){let{messages:e}=this.formats,i=this.pages&&(this.pages.length>0||!this.isLoading&&!this.failure);return d`
<div class="root ${this.isNarrow?"narrow":""} ${this.hasTenants?"tenants":""}" dir=${e.direction} lang=${this.formats.language}>
${this.token?this.head():h}
<div class="messages">${this.messages()}</div>
<div class="main">
${i&&this.pages&&this.pages.length>0?this.list(this.pages):this.emptyState()}
${this.opened?d`<audit-log-event
                part="details" exportparts="proof, details-header"
                .event=${this.opened} .api=${this.api} .pinnedKey=${this.pinnedKey} .formats=${this.formats}
                @close=${()=>this.close()} @step=${s=>this.step(s.detail)}
                @filter-by=${this.onFilterBy} @keydown=${this.onDetailsKey}
              ></audit-log-event>`:h}
        </div>
        ${this.token?this.foot():h}
        <div class="visually-hidden" role="status">${this.announcement}</div>
      </div>
    `}get hasTenants(){return!ue(this.token)}head(){let{messages:e}=this.formats,{summary:i}=this;return d`
<div class="top">
<audit-log-filters
.filter=${this.filter} .top=${i?.top} .formats=${this.formats} .isUtc=${this.isUtc} .hasTenants=${this.hasTenants}
@filter-change=${s=>this.filter=s.detail}
>
<div class="tools">
<button class="live" aria-pressed=${!this.paused} title=${this.paused?e.liveStart:e.livePause} @click=${()=>this.paused=!this.paused}>
${!this.paused&&!this.isConnected_&&!this.failure?e.liveConnecting:e.live}
</button>
<div class="menu" @focusout=${this.onMenuFocus} @keydown=${this.onMenuKey}>
<button aria-expanded=${this.isMenuOpen} aria-haspopup="true" @click=${()=>this.isMenuOpen=!this.isMenuOpen}>${e.download}</button>
${this.isMenuOpen?d`<div>
                    <button @click=${()=>this.save("csv")}>${e.downloadCsv}</button>
                    <button @click=${()=>this.save("jsonl")}>${e.downloadJson}</button>
                  </div>`:h}
            </div>
          </div>
        </audit-log-filters>
      </div>
      ${i&&i.buckets.length>0?d`<div class="chart">
<audit-log-histogram
.summary=${i} .formats=${this.formats} ?narrow=${this.isNarrow}
.isZoomed=${!!(this.filter.start_date||this.filter.end_date)}
@zoom=${s=>this.filter={...this.filter,start_date:s.detail.start,end_date:s.detail.end}}
@zoom-out=${()=>this.zoomOut()}
></audit-log-histogram>
</div>`:h}
    `}zoomOut(){let{start_date:e,end_date:i,...s}=this.filter;this.filter=s}messages(){let{messages:e}=this.formats,i=[],s=d`<button @click=${()=>this.reload()}>${e.retry}</button>`;return this.isOffline&&i.push(d`<div class="notice" role="status"><b>${e.offline}</b><span>${e.offlineText}</span>${s}</div>`),this.failure&&this.pages&&this.pages.length>0&&i.push(d`<div class="notice bad" role="alert">${this.failureText(this.failure)}</div>`),this.downloaded!==void 0&&i.push(d`<div class="notice good" role="status">${e.downloading(this.formats.bytes(this.downloaded))}
<button @click=${()=>this.downloading?.abort()}>${e.cancel}</button></div>`),this.downloadFailure&&i.push(d`<div class="notice bad" role="alert">${e.downloadFailed}: ${this.downloadFailure}</div>`),i}emptyState(){let{messages:e}=this.formats;return this.token?this.failure?d`<div class="state" part="state" role="alert">${this.failureText(this.failure)}</div>`:this.isLoading||!this.pages?d`<div class="state" part="state" role="status"><p class="spinner">${e.loading}</p></div>`:gt(this.filter)?d`<div class="state" part="state"><h3>${e.empty}</h3><p>${e.emptyText}</p></div>`:d`<div class="state" part="state">
<h3>${e.emptyFilter}</h3><p>${e.emptyFilterText}</p><button @click=${()=>this.filter={}}>${e.clearFilters}</button>
</div>`:d`<div class="state" part="state"><h3>${e.noToken}</h3><p>${e.noTokenText}</p></div>`}failureText(e){let{messages:i}=this.formats,s={expired:i.expired,offline:i.offline,busy:i.busy,forbidden:i.forbidden},r=e.kind==="expired",o=r?this.isWaiting?i.expiredWaiting:i.expiredText:e.kind==="offline"?i.offlineText:e.message,a=e.details.map(({field:l,message:c})=>d`<p><code>${l}</code> ${c}</p>`);return d`
<h3>${s[e.kind]??i.failed}</h3>
<p>${o}</p>
${a} ${e.requestId?d`<p class="mono">${i.requestId}: ${e.requestId}</p>`:h}
      ${r?h:d`<button @click=${()=>this.reload()}>${i.retry}</button>`}
    `}list(e){let{messages:i}=this.formats,[s,r]=this.window(),o=Array.from({length:r-s},(l,c)=>this.line(s+c,e.at(s+c))),a=[i.time,i.action,i.actor,i.target,...this.hasTenants?[i.tenant]:[]];return d`<div class="list">
${this.arrivedCount>0?d`<div class="arrived"><button class="primary" @click=${()=>this.scrollToTop()}>
            ↑ ${i.newEvents(this.formats.number(this.arrivedCount),this.arrivedCount===1)}
          </button></div>`:h}
      <div
        class="grid" part="list" role="grid" tabindex="0" aria-label=${i.events} aria-colcount=${a.length}
        aria-rowcount=${e.isComplete?e.length+1:-1}
        aria-activedescendant=${this.active>=s&&this.active<r?`row-${this.active}`:h}
        @scroll=${this.onScroll} @keydown=${this.onKey}
      >
        <div role="rowgroup">
          <div class="head" role="row" aria-rowindex="1">${a.map(l=>d`<div role="columnheader">${l}</div>`)}</div>
        </div>
        <div role="rowgroup">
          <div class="before-rows" role="presentation"></div>
          ${o}
          <div class="after-rows" role="presentation"></div>
        </div>
        <div class="end">${e.isComplete?i.endOfLog:this.isLoadingMore?i.loadingMore:h}</div>
      </div>
    </div>`}line(e,i){let s=`row-${e}`;if(!i)return d`<div class="line" role="row" id=${s} aria-rowindex=${e+2} aria-busy="true"><div class="pending" role="gridcell"></div></div>`;let r=i.id===this.opened?.id,o=["line",e===this.active?"active":"",r?"open":"",this.freshIds.has(i.id)?"fresh":""],{formats:a}=this,l=a.full(i.occurred_at),c=this.isAbsolute&&!this.isNarrow?a.absolute(i.occurred_at):a.relative(i.occurred_at,Date.now()),p=i.category??"system",u=a.messages.categories[p]??p;return d`<div class=${o.join(" ")} role="row" part="row" id=${s} aria-rowindex=${e+2} aria-selected=${r} @click=${()=>this.open(e)}>
<div role="gridcell" class="when"><time datetime=${i.occurred_at} title=${l}>${c}</time></div>
<div role="gridcell" class="action"><span class="dot ${p}" role="img" aria-label=${u} title=${u}></span><span>${i.action??"–"}</span></div>
<div role="gridcell" class="who" title=${i.actor?.id??""}>${i.actor?.name??i.actor?.id??"–"}</div>
<div role="gridcell" class="what secondary" title=${i.target?.id??""}>${i.target?.name??i.target?.id??"–"}</div>
${this.hasTenants?d`<div role="gridcell" class="tenant secondary">${i.tenant_id}</div>`:h}
    </div>`}foot(){let{messages:e}=this.formats,{pages:i,summary:s}=this,r=s?.total,o=i?.length??0,a=r??o,l=r===void 0&&!i?.isComplete?e.loadedCount(this.formats.number(o)):e.eventCount(this.formats.number(a),a===1);return d`<footer part="footer">
<span>${o>0||r!==void 0?l:h}</span>
<div class="tools">
${this.fragment?d`<button class="plain" @click=${()=>this.copyLink()}>${e.copyLink}</button>`:h}
        <button class="plain" @click=${()=>this.isAbsolute=!this.isAbsolute}>${this.isAbsolute?e.relativeTimes:e.absoluteTimes}</button>
        <button class="plain" aria-pressed=${this.isUtc} @click=${()=>this.isUtc=!this.isUtc}>${e.utc}</button>
      </div>
    </footer>`}async copyLink(){await navigator.clipboard.writeText(this.link).catch(()=>{}),this.announcement=this.formats.messages.copied}onMenuFocus(e){e.currentTarget.contains(e.relatedTarget)||(this.isMenuOpen=!1)}onMenuKey(e){e.key==="Escape"&&(this.isMenuOpen=!1,e.currentTarget.querySelector("button")?.focus())}async save(e){this.isMenuOpen=!1,this.downloading?.abort();let i=new AbortController;this.downloading=i,this.downloadFailure="",this.downloaded=0;try{await Rt(this.api,this.filter,e,s=>this.downloaded=s,i.signal)}catch(s){$(s)||(this.downloadFailure=k(s).message)}finally{this.downloaded=void 0}}onScroll(){this.grid?.scrollTop===0&&(this.arrivedCount=0),this.requestUpdate()}scrollToTop(){this.arrivedCount=0,this.active=0,this.grid?.scrollTo({top:0}),this.grid?.focus()}onKey(e){let i=Math.max(1,Math.floor((this.grid?.clientHeight??400)/this.rowHeight)-2),r={ArrowDown:1,ArrowUp:-1,PageDown:i,PageUp:-i,Home:-1/0,End:1/0}[e.key];if(r!==void 0)this.moveTo(this.active+r);else if(e.key==="Enter"||e.key===" ")this.open(this.active,!0);else if(e.key==="Escape"&&this.opened)this.close();else return;e.preventDefault()}moveTo(e){let{grid:i,pages:s}=this;if(!i||!s)return;this.active=Math.max(0,Math.min(e,s.length-1));let r=this.active*this.rowHeight,o=this.isNarrow?0:30;r<i.scrollTop?i.scrollTop=r:r+this.rowHeight+o>i.scrollTop+i.clientHeight&&(i.scrollTop=r+this.rowHeight+o-i.clientHeight),this.opened&&!this.isNarrow&&this.open(this.active)}open(e,i=!1){let s=this.pages?.at(e);s&&(this.active=e,this.wanted=void 0,this.opened=s,this.dispatchEvent(new CustomEvent("audit-event-opened",{detail:{id:s.id},bubbles:!0,composed:!0})),(i||this.isNarrow)&&this.focusDetails())}async focusDetails(){await this.updateComplete;let e=this.renderRoot.querySelector("audit-log-event");await e?.updateComplete,e?.focus()}async openById(e){try{let{event:i}=await this.api.get(`/events/${e}`,{},this.loading.signal);this.wanted=void 0,this.opened=i}catch(i){if($(i))return;this.wanted=void 0,this.announcement=this.formats.messages.eventNotFound}}step(e){this.moveTo(this.active+e),this.open(this.active)}close(){this.opened=void 0,this.updateComplete.then(()=>this.grid?.focus())}onDetailsKey(e){e.key==="Escape"&&this.close()}onFilterBy(e){this.isNarrow&&(this.opened=void 0),this.filter={...this.filter,[e.detail.field]:e.detail.value}}};function jt(){let n=[["audit-log-proof",ye],["audit-log-event",de],["audit-log-filters",pe],["audit-log-histogram",fe],["audit-log-viewer",we]];for(let[t,e]of n)customElements.get(t)||customElements.define(t,e)}var Ki=["token","key","lang","theme"];function Wi(){let n=new URLSearchParams(location.hash.slice(1)),t={};for(let i of Ki){let s=n.get(i);s!==null&&(t[i]=s),n.delete(i)}let e=n.toString();return Object.keys(t).length>0&&history.replaceState(null,"",`${location.pathname}${location.search}${e&&`#${e}`}`),t}var Vt=["auto","light","dark"],Ze=class extends v{static{this.properties={token:{state:!0},key:{state:!0},language:{state:!0},theme:{reflect:!0}}}static{this.styles=[b,ae,y`
:host { display: flex; flex-direction: column; height: 100vh; height: 100dvh; background: var(--bg); }
header { display: flex; flex-wrap: wrap; align-items: center; gap: 6px 12px; padding: 8px 12px; border-bottom: 1px solid var(--border); }
h1 { margin: 0; font-size: 1.15em; font-weight: 600; }
.tenant { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
select { border-color: transparent; background: transparent; }
select:hover { border-color: var(--control); }
@media (max-width: 480px) { header { flex-wrap: nowrap; padding: 4px 8px; } h1 { white-space: nowrap; } select { width: 92px; padding: 3px 0; } }
audit-log-viewer { flex: 1; --audit-height: auto; min-height: 0; }
`]}constructor(){super(),this.token="",this.theme="auto",this.language=N(navigator.languages).name.split("-")[0]??"en",this.take(),addEventListener("hashchange",()=>this.take())}take(){let{token:t,key:e,lang:i,theme:s}=Wi();t!==void 0&&(this.token=t),e!==void 0&&(this.key=e),i!==void 0&&(this.language=N([i]).name.split("-")[0]??"en"),Vt.some(r=>r===s)&&(this.theme=s??"auto")}render(){let{messages:t}=N([this.language]);document.documentElement.lang=this.language,document.documentElement.dir=t.direction,document.title=t.title;let e=new Intl.DisplayNames([this.language],{type:"language"});return d`
<header>
<h1>${t.title}</h1>
<span class="tenant muted">${ue(this.token)??""}</span>
<select aria-label=${t.language} @change=${i=>this.language=i.target.value}>
${It().map(i=>d`<option value=${i} ?selected=${i===this.language}>${e.of(i)??i}</option>`)}
        </select>
        <select aria-label=${t.theme} @change=${i=>this.theme=i.target.value}>
          ${Vt.map(i=>d`<option value=${i} ?selected=${i===this.theme}>${t.themes[i]}</option>`)}
        </select>
      </header>
      <audit-log-viewer fragment .token=${this.token} .pinnedKey=${this.key} lang=${this.language} theme=${this.theme}></audit-log-viewer>
    `}};jt();customElements.define("audit-log-portal",Ze);document.querySelector("#app")?.append(document.createElement("audit-log-portal"));
