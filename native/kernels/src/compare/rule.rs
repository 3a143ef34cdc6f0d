//! The rule that decides by which clause two documents are near-duplicates (defined in
//! `es_simhash.scheme.verdict.rule`).

use super::conditions::Agreement;

/// The clauses, in the order of `es_simhash.scheme.verdict.rule.CLAUSES`: from `Crowded` on, the two are not near.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
#[repr(u8)]
pub enum Clause {
    Equal,
    Bits,
    Similar,
    Nearest,
    Apart,
    Crowded,
    Below,
    Conditions,
}

/// What makes two documents near-duplicates.
pub struct Rule {
    pub distance: Option<i64>,
    pub similarity: Option<f64>,
    pub crowding: Option<Crowding>,
}

/// How numbers and surroundings change the similarity that is needed; `lowering` is for the rule's similarity.
pub struct Crowding {
    pub lowering: f64,
    pub nearest: f64,
    pub copies: f64,
}

/// How near two unequal texts are, the product of the best similarities of both, and how much more the crowd around
/// them asks for.
#[derive(Clone, Copy)]
pub struct Near {
    pub distance: Option<i64>,
    pub similarity: f64,
    pub agreement: Agreement,
    pub best: f64,
    pub more: f64,
}

impl Rule {
    /// Return the deciding clause.
    pub fn clause(&self, near: &Near) -> Clause {
        if near.distance.is_some_and(|distance| self.distance.is_some_and(|most| distance <= most)) {
            return Clause::Bits;
        }
        match (self.similarity, &self.crowding) {
            (None, _) => Clause::Below,
            (Some(_), _) if near.agreement == Agreement::None => Clause::Conditions,
            (Some(least), None) if near.similarity >= least => Clause::Similar,
            (Some(_), None) => Clause::Below,
            (Some(least), Some(crowding)) => crowding.clause(crowding.needed(least, near.agreement), near),
        }
    }

    /// Return whether a verdict holds whatever else is around the other document; `more` is what the text's own crowd
    /// asks for.
    pub fn is_settled(&self, clause: Clause, near: &Near, more: f64) -> bool {
        match (self.similarity, &self.crowding, clause) {
            (Some(least), Some(crowding), Clause::Apart | Clause::Nearest) => {
                near.similarity >= crowding.needed(least, near.agreement) + more
            }
            _ => true,
        }
    }
}

impl Crowding {
    fn needed(&self, least: f64, agreement: Agreement) -> f64 {
        if agreement == Agreement::ManyNumbers { least - self.lowering } else { least }
    }

    fn clause(&self, needed: f64, near: &Near) -> Clause {
        let s = near.similarity;
        let has_numbers = matches!(near.agreement, Agreement::Numbers | Agreement::ManyNumbers);
        if s < needed || s.is_nan() {
            Clause::Below
        } else if s >= needed + near.more {
            Clause::Apart
        } else if (has_numbers || s >= self.copies) && s >= self.nearest * near.best {
            Clause::Nearest
        } else {
            Clause::Crowded
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CROWDING: Crowding = Crowding { lowering: 0.1, nearest: 0.9, copies: 0.85 };

    #[test]
    fn the_first_clause_that_holds_decides() {
        let rule = Rule { distance: Some(3), similarity: Some(0.6), crowding: Some(CROWDING) };
        let near = Near { distance: Some(4), similarity: 0.7, agreement: Agreement::Met, best: 0.9, more: 0.2 };
        let clause = |near: Near| rule.clause(&near);
        assert_eq!(clause(near), Clause::Crowded);
        assert_eq!(clause(Near { distance: Some(3), agreement: Agreement::None, ..near }), Clause::Bits);
        assert_eq!(clause(Near { agreement: Agreement::None, ..near }), Clause::Conditions);
        assert_eq!(clause(Near { similarity: f64::NAN, ..near }), Clause::Below);
        assert_eq!(clause(Near { similarity: 0.5, ..near }), Clause::Below);
        assert_eq!(clause(Near { more: 0.1, ..near }), Clause::Apart);
        assert_eq!(
            clause(Near { similarity: 0.82, best: 0.9, agreement: Agreement::Numbers, more: 0.3, ..near }),
            Clause::Nearest
        );
        assert_eq!(
            clause(Near { similarity: 0.5, more: 0.0, agreement: Agreement::ManyNumbers, ..near }),
            Clause::Apart
        );
    }

    #[test]
    fn what_stands_out_from_the_text_s_own_crowd_is_settled() {
        let rule = Rule { distance: None, similarity: Some(0.6), crowding: Some(CROWDING) };
        let near = Near { distance: None, similarity: 0.7, agreement: Agreement::Met, best: 0.0, more: 0.0 };
        assert!(rule.is_settled(Clause::Apart, &near, 0.05));
        assert!(!rule.is_settled(Clause::Apart, &near, 0.2));
        assert!(rule.is_settled(Clause::Below, &near, 0.2));
        assert!(Rule { crowding: None, ..rule }.is_settled(Clause::Similar, &near, 0.2));
    }
}
