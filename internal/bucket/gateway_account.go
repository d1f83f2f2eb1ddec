package bucket

import "github.com/versity/versitygw/auth"

// singleAccount knows the gateway's only account. The one that versitygw brings tells
// an unknown access key with status 404, which for HEAD and DELETE looks just like a
// missing object.
type singleAccount struct {
	auth.IAMService
}

func newSingleAccount(settings gatewaySettings) auth.IAMService {
	return singleAccount{auth.NewIAMServiceSingle(auth.Account{
		Access: settings.AccessKey,
		Secret: settings.SecretKey,
		Role:   auth.RoleAdmin,
	})}
}

// GetUserAccount returns the account of the access key, or auth.ErrNoSuchUser, which
// becomes status 403 and code InvalidAccessKeyId.
func (s singleAccount) GetUserAccount(access string) (auth.Account, error) {
	account, err := s.IAMService.GetUserAccount(access)
	if err != nil {
		return auth.Account{}, auth.ErrNoSuchUser
	}
	return account, nil
}
